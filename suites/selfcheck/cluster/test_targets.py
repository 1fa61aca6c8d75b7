"""Targets, distributions and tools: an error is one sentence with its exit code, and leaves nothing."""

import gzip
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.base.user_error import ExitCode
from harness.cluster import distribution
from harness.cluster.backend_catalogue import AUTO, BACKEND_NAMES, BACKENDS
from harness.cluster.cluster import ClusterOptions
from harness.cluster.opening import choose_backend, open_cluster
from harness.cluster.target import Distribution, External, Image, Released, parse_target
from harness.machine import toolchain
from suites.selfcheck.fixtures.user_errors import raises_user_error


def quiet(_sentence: str) -> None:
    """Ignore the progress."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of this test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "fencepost"


def kafka_tarball(place: Path, *jars: str) -> Path:
    """A tarball in the official layout, with empty jars."""
    folder = place / "kafka_2.13-4.4.0"
    for jar in jars:
        (folder / "libs").mkdir(parents=True, exist_ok=True)
        (folder / "libs" / jar).touch()
    packed = place / "kafka.tgz"
    with tarfile.open(packed, "w:gz") as tarball:
        tarball.add(folder, folder.name)
    return packed


@pytest.mark.parametrize(
    "text", ["kafka:4.3.1", "external:a:9092,b:9093", "external:[::1]:9092", "external:1=a:9092,b:9093"]
)
def test_a_target_reads_as_it_was_written(text: str) -> None:
    assert str(parse_target(text)) == text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", ExitCode.USAGE),
        ("kafka", ExitCode.USAGE),
        ("kafka:", ExitCode.USAGE),
        ("docker:4.3.1", ExitCode.USAGE),
        ("external:somewhere", ExitCode.USAGE),
        ("external:somewhere:0", ExitCode.USAGE),
        ("external:a:9092,", ExitCode.USAGE),
        ("external:one=a:9092", ExitCode.USAGE),
        ("external:1=a:9092,1=b:9092", ExitCode.USAGE),
        ("kafka:latest", ExitCode.TARGET_UNKNOWN),
        ("kafka:4.3", ExitCode.TARGET_UNKNOWN),
        ("kafka:3.3.1", ExitCode.TARGET_UNKNOWN),
        ("kafka:2.8.2", ExitCode.TARGET_UNKNOWN),
    ],
)
def test_a_wrong_target_is_one_sentence(text: str, code: ExitCode) -> None:
    with raises_user_error(code):
        parse_target(text)


def test_auto_takes_the_backend_that_can_open_the_target_and_gives_the_reason() -> None:
    choice = choose_backend(parse_target("external:a:9092"), "auto")
    assert (choice.backend.name, choice.why) == ("external", "the target is a running cluster")


def test_every_kind_of_target_is_opened_by_a_backend_and_every_backend_has_a_name_of_its_own() -> None:
    opened = {kind for backend in BACKENDS for kind in backend.opens}
    assert opened == {Released, Distribution, Image, External}
    assert len(set(BACKEND_NAMES)) == len(BACKENDS) + 1
    assert AUTO in BACKEND_NAMES


def test_an_unknown_backend_is_refused() -> None:
    with raises_user_error(ExitCode.USAGE, "the podman backend cannot open"):
        choose_backend(parse_target("kafka:4.3.1"), "podman")


def test_a_backend_that_cannot_open_the_target_is_refused() -> None:
    with raises_user_error(ExitCode.USAGE):
        choose_backend(parse_target("external:a:9092"), "process")


def test_the_version_of_a_tarball_comes_from_its_own_jars(tmp_path: Path) -> None:
    packed = kafka_tarball(tmp_path, "kafka_2.13-4.4.0-SNAPSHOT.jar", "kafka_2.13-4.4.0-SNAPSHOT-sources.jar", "x.jar")
    files = distribution.distribution(Distribution(packed), quiet)
    assert (files.version, files.origin) == ("4.4.0-SNAPSHOT", f"from {packed}")
    assert [jar.name for jar in files.jars()] == sorted(jar.name for jar in files.jars())
    assert len(files.jars()) == 3


def test_an_unpacked_folder_is_used_where_it_is(tmp_path: Path) -> None:
    kafka_tarball(tmp_path, "kafka_2.13-3.9.2.jar")
    files = distribution.distribution(Distribution(tmp_path / "kafka_2.13-4.4.0"), quiet)
    assert (files.version, files.libs) == ("3.9.2", tmp_path / "kafka_2.13-4.4.0" / "libs")


def text_file(place: Path) -> Path:
    (place / "kafka.tgz").write_text("this is no tarball")
    return place / "kafka.tgz"


def torn_tarball(place: Path) -> Path:
    packed = kafka_tarball(place, "kafka_2.13-4.4.0.jar")
    packed.write_bytes(packed.read_bytes()[:-40])
    return packed


def torn_gzip(place: Path) -> Path:
    (place / "kafka.tgz").write_bytes(gzip.compress(b"no tar in here"))
    return place / "kafka.tgz"


def other_tarball(place: Path) -> Path:
    return kafka_tarball(place, "zookeeper-3.8.4.jar")


def climbing_tarball(place: Path) -> Path:
    packed = kafka_tarball(place, "kafka_2.13-4.4.0.jar")
    with tarfile.open(packed, "w:gz") as tarball:
        tarball.add(place / "kafka_2.13-4.4.0", "../../outside")
    return packed


def missing_file(place: Path) -> Path:
    return place / "nowhere.tgz"


@pytest.mark.parametrize(
    "make",
    [text_file, torn_tarball, torn_gzip, other_tarball, climbing_tarball, missing_file],
    ids=lambda f: f.__name__,
)
def test_a_wrong_tarball_is_one_sentence_and_leaves_nothing_in_the_cache(
    make: Callable[[Path], Path], tmp_path: Path, cache: Path
) -> None:
    with raises_user_error(ExitCode.TARGET_UNKNOWN):
        distribution.distribution(Distribution(make(tmp_path)), quiet)
    assert [entry for entry in cache.rglob("*") if entry.is_dir() and entry.name != "dist"] == []
    assert not (tmp_path / "outside").exists()


@pytest.mark.parametrize("name", ["java", "mvn", "go"])
def test_a_missing_tool_is_named_with_its_remedy(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with raises_user_error(ExitCode.TOOL_MISSING, f"^{name} is needed to try it and is not on the PATH; install"):
        toolchain.tool(name, needed_for="to try it")


@pytest.mark.parametrize(
    ("version", "works"),
    [
        ('openjdk version "17.0.15" 2025-04-15', True),
        ('openjdk version "21" 2023-09-19', True),
        ('openjdk version "11.0.2" 2019-01-15', False),
        ('java version "1.8.0_292"', False),
        ("no JVM at all", False),
    ],
)
def test_java_must_be_new_enough(version: str, works: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "java"
    program.write_text(f"#!/bin/sh\necho '{version}' >&2\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    if works:
        assert version in toolchain.java().build
        return
    with raises_user_error(ExitCode.TOOL_MISSING):
        toolchain.java()


def test_clients_properties_are_refused_for_a_cluster_of_ours(tmp_path: Path) -> None:
    """They would be read, and change nothing."""
    options = ClusterOptions(client_properties=tmp_path / "client.properties")
    with raises_user_error(ExitCode.USAGE, "for external targets; kafka:4.3.1 is a release"):
        open_cluster(Released("4.3.1"), backend=AUTO, options=options, run_dir=tmp_path, progress=quiet)
