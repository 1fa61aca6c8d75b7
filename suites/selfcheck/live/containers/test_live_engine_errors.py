"""Engines that can be used and lack something, each an engine of the test's own: one sentence, nothing left on it.

The judged image is small: its ``java`` is Toxiproxy's program, which ignores its arguments and listens. So everything
up to the first JVM is real, and no cluster is started.
"""

import io
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from harness.base.user_error import ExitCode, UserError
from harness.cluster import opening, toxiproxy
from harness.cluster.cluster import ClusterOptions
from harness.cluster.docker import image_start_cache, images
from harness.cluster.docker.engine import reach
from harness.cluster.docker.images import TOXIPROXY, Recipe
from harness.cluster.target import parse_target
from suites.selfcheck.fixtures.engines import own_engine

pytestmark = pytest.mark.live

SMALL, JAVALESS = "fencepost/small", "fencepost/javaless"
KAFKA = "opt/kafka/libs/kafka_2.13-9.9.9.jar"
ONE_PORT = "echo 40000 40000 >/proc/sys/net/ipv4/ip_local_port_range"


@pytest.fixture(scope="module")
def program() -> Path:
    """Toxiproxy's program, a static file."""
    return toxiproxy.built(lambda _: None)


@pytest.fixture(scope="module")
def ample(tmp_path_factory: pytest.TempPathFactory, program: Path) -> Iterator[str]:
    """An engine that lacks nothing."""
    with stocked(tmp_path_factory.mktemp("ample"), program) as host:
        yield host


@contextmanager
def stocked(place: Path, program: Path, first: str = "true") -> Iterator[str]:
    """An engine with Toxiproxy's image and the small ones, which declare a volume as Kafka's own does."""
    with own_engine(place, first=first) as host, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", host)
        with closing(reach()) as engine:
            images.build_image(engine, TOXIPROXY[0], Recipe(dockerfile="toxiproxy.Dockerfile", context=program.parent))
            for name, files in ((SMALL, {"usr/bin/java": program.read_bytes(), KAFKA: b""}), (JAVALESS, {KAFKA: b""})):
                load = engine.sdk.api.import_image_from_data
                load(packed(files), repository=name, tag="1", changes=["VOLUME /var/lib/kafka"])
        yield host


def packed(files: dict[str, bytes]) -> bytes:
    """A root for a container, all of it executable."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for path, content in files.items():
            member = tarfile.TarInfo(path)
            member.mode, member.size = 0o755, len(content)
            tar.addfile(member, io.BytesIO(content))
    return made.getvalue()


def refusal(host: str, image: str, run_dir: Path) -> UserError:
    """What opening a cluster from the image comes to; nothing may be left."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", host)
        before = things()
        with pytest.raises(UserError) as error:
            opening.open_cluster(
                parse_target(f"image:{image}:1"),
                backend="docker",
                options=ClusterOptions(),
                run_dir=run_dir,
                progress=lambda _: None,
            )
        assert things() == before
    return error.value


def things() -> set[str]:
    """Everything on the engine, not only what Fencepost made."""
    with closing(reach()) as engine:
        api = engine.sdk.api
        found = (*api.containers(all=True), *api.networks())
        return {thing["Id"] for thing in found} | {volume["Name"] for volume in api.volumes()["Volumes"] or ()}


def test_a_container_that_does_not_end_is_reported_with_its_last_lines(
    ample: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image_start_cache, "TRAINING_SECONDS", 5.0)
    error = refusal(ample, SMALL, tmp_path)
    assert error.exit is ExitCode.NOT_READY
    words = f"the storage tool of {SMALL}:1 did not end within 5 s; the last lines of {tmp_path}/logs/preparing.log:"
    assert str(error).startswith(words)
    assert "Starting Toxiproxy HTTP server" in str(error)


def test_an_image_without_java_is_one_sentence(ample: str, tmp_path: Path) -> None:
    error = refusal(ample, JAVALESS, tmp_path)
    assert error.exit is ExitCode.TARGET_UNKNOWN
    assert str(error) == f"{JAVALESS}:1 has no java on its PATH; give an image that Kafka runs in"


def test_no_address_left_is_one_sentence(ample: str, tmp_path: Path) -> None:
    docker = ("docker", "--host", ample, "network")
    subprocess.run([*docker, "create", "--subnet=198.18.0.0/15", "everything"], check=True, capture_output=True)
    try:
        error = refusal(ample, SMALL, tmp_path)
    finally:
        subprocess.run([*docker, "rm", "everything"], check=True, capture_output=True)
    assert error.exit is ExitCode.ADDRESS_IN_USE
    assert "every address from 198.18.0.0 to 198.19.255.255 is in a network of the engine" in str(error)


def test_no_port_left_is_one_sentence(tmp_path: Path, program: Path) -> None:
    with stocked(tmp_path, program, ONE_PORT) as host:
        docker = ("docker", "--host", host)
        subprocess.run([*docker, "network", "create", "first"], check=True, capture_output=True)
        port = ("--network=first", "--publish=127.0.0.1::8474")
        subprocess.run([*docker, "run", "--detach", *port, TOXIPROXY[0]], check=True, capture_output=True)
        error = refusal(host, SMALL, tmp_path)
    assert error.exit is ExitCode.ADDRESS_IN_USE
    assert "no port of 127.0.0.1 could be published" in str(error)
    assert len(str(error).splitlines()) == 1


@pytest.fixture
def narrow(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own."""
    place = tmp_path / "narrow"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m", "narrow", place], check=True)
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def test_a_full_disk_is_one_sentence(narrow: Path, tmp_path: Path, program: Path) -> None:
    with stocked(narrow, program) as host:
        fill(narrow)
        engines = refusal(host, SMALL, tmp_path)
        ours = refusal(host, SMALL, narrow)
    assert (engines.exit, ours.exit) == (ExitCode.NO_ROOM, ExitCode.NO_ROOM)
    assert "the disk is full where the container engine keeps its data; free some room" in str(engines)
    assert f"MB are free at {narrow}" in str(ours)


def fill(place: Path) -> None:
    """Take all the room that is left."""
    room = shutil.disk_usage(place).free
    subprocess.run(["fallocate", "--length", str(room), place / "filler"], check=True)
