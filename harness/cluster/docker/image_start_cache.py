"""The start-up cache of the docker backend: an image with formatted storage and an archive of parsed classes.

Built once on top of an image with Kafka, so that class path, jars and JVM are those that the archive was made with. One
container formats storage by Kafka's own tool. Another runs a combined node up to its first transaction and ends in
order, upon which the JVM writes the archive. The version is read from the name of the server's jar.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from harness.base import wait
from harness.base.addresses import Address
from harness.base.paths import COMPOSE
from harness.base.user_error import ExitCode, UserError
from harness.cluster.distribution import version_of
from harness.cluster.docker import container_files, images, networks
from harness.cluster.docker.container_addresses import EDGE
from harness.cluster.docker.engine import APIError, RequestException, engine_errors, in_parallel
from harness.cluster.docker.images import ImageSource, Recipe
from harness.cluster.docker.ownership import OwnedResources
from harness.cluster.nodes import node_properties, readiness_probe
from harness.cluster.nodes.jvm_command import Launch, class_path
from harness.cluster.nodes.node_addresses import Listeners
from harness.cluster.nodes.node_ports import LANE_PORTS, LINK, OBSERVER, QUORUM
from harness.cluster.nodes.node_properties import name, render
from harness.cluster.nodes.readiness import PROBE_ID
from harness.cluster.nodes.startup_error import not_ready
from harness.cluster.nodes.storage import STORAGE_FILES, Format, new_id
from harness.cluster.topology import CONTROLLER
from harness.machine import download_cache
from harness.machine.toolchain import Java

LAYOUT = "1"  # of the image; a change of it changes this
HOME = Path("/fencepost")
NODE = Path("/node")
SETTINGS, DATA, ARCHIVE = NODE / "server.properties", NODE / "data", "classes.jsa"
LOGGING = ("log4j.properties", "log4j2.properties")
VERSION, JAVA = "fencepost.kafka", "fencepost.java"
TRAINING_SECONDS = 120.0
Storage: TypeAlias = Mapping[str, bytes]
"""The files of formatted storage, by their names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartImage:
    """An image that nodes start from."""

    image: str
    version: str
    java: str

    def launch(self, options: tuple[str, ...]) -> Launch:
        """What nodes start with, in the container's own paths."""
        return _launch(self.version, archived=True, options=options)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ImageBuild:
    """The run that the image is built for, the image below it, the log, and a folder for the files that go into it."""

    run: OwnedResources
    source: ImageSource
    log: Path
    files: Path


def make_start_image(
    run: OwnedResources, source: ImageSource, folder: Path, logs: Path, progress: Callable[[str], None]
) -> StartImage:
    """The image for this source, made where it is missing.

    :raises UserError: TARGET_UNKNOWN, when it holds no Kafka or no Java; NOT_READY, when its Kafka does not run.
    """
    texts = [(COMPOSE / file).read_text() for file in LOGGING]
    tag = f"fencepost/start-cache:{download_cache.fingerprint([LAYOUT, source.id, source.home, *texts])}"
    if not images.local_image(run.engine, tag):
        progress(f"preparing {source.reference} for quick starts (once; some 20 s)")
        files = folder / f"image-files-{tag.partition(':')[2]}"
        _build_start_image(_ImageBuild(run=run, source=source, log=logs / "preparing.log", files=files), tag)
    labels: Mapping[str, str] = run.engine.sdk.images.get(tag).labels
    return StartImage(image=tag, version=labels[VERSION], java=labels[JAVA])


def _build_start_image(build: _ImageBuild, tag: str) -> None:
    build.files.mkdir()
    version, jars = _find_kafka(build)
    paths = [Path(build.source.home, "libs", jar) for jar in jars]
    (build.files / "class-path").write_text(class_path(paths))
    for file in LOGGING:
        (build.files / file).write_bytes((COMPOSE / file).read_bytes())
    storage = _format(build, _launch(version))
    (build.files / "storage").mkdir()
    for file, content in storage.items():
        (build.files / "storage" / file).write_bytes(content)
    _train(build, version, storage)
    labels = {VERSION: version, JAVA: _java(build.log)}
    source = {"SOURCE": build.source.id}
    recipe = Recipe(dockerfile="start-cache.Dockerfile", context=build.files, arguments=source, labels=labels)
    images.build_image(build.run.engine, tag, recipe)


def _find_kafka(build: _ImageBuild) -> tuple[str, list[str]]:
    """Kafka's version and its jars, sorted."""
    with _container(build, ["-version"]) as container:
        try:
            jars = [
                jar
                for jar in container_files.list_files(container, f"{build.source.home}/libs")
                if jar.endswith(".jar")
            ]
        except LookupError as missing:
            raise _no_kafka(build.source, str(missing)) from missing
    version = version_of(jars)
    if version is None:
        raise _no_kafka(build.source, f"{build.source.home}/libs has no kafka_2.13-<version>.jar")
    return version, jars


def format_otherwise(run: OwnedResources, image: StartImage, wish: Format, folder: Path, log: Path) -> Storage:
    """Storage that is formatted as wished by the official tool, in a container of the image.

    :param folder: A folder of the run's, for what the container is given.
    :raises UserError: NOT_READY, when the tool refuses.
    """
    folder.mkdir()
    source = ImageSource(reference=f"Kafka {image.version}", id=image.image, digest=image.image)
    return _format(_ImageBuild(run=run, source=source, log=log, files=folder), image.launch(()), *wish.arguments)


def _format(build: _ImageBuild, launch: Launch, *wish: str) -> Storage:
    words = ("-t", new_id(), "-c", str(SETTINGS), *wish)
    command = launch.command("kafka.tools.StorageTool", "format", *words, flags=["-showversion"])
    with _container(build, command[1:]) as container:
        _put_files(build, container, {})
        _start(build, container)
        failure = _failure(container)
        _append_log(build, container)
        if failure:
            raise not_ready(f"the storage tool of {build.source.reference} {failure}", build.log)
        made = container_files.get_files(container, str(DATA))
    return {file: content for file, content in made.items() if file in STORAGE_FILES}


def _failure(container: Any) -> str | None:
    try:
        return "failed" if container.wait(timeout=TRAINING_SECONDS)["StatusCode"] else None
    except RequestException:
        return f"did not end within {TRAINING_SECONDS:g} s"


def _train(build: _ImageBuild, version: str, storage: Storage) -> None:
    """Run a combined node up to its first transaction; a JVM that cannot make an archive writes none."""
    flags = [f"-XX:ArchiveClassesAtExit={NODE / ARCHIVE}"]
    with _container(build, _launch(version).command("kafka.Kafka", SETTINGS, flags=flags)[1:]) as container:
        _put_files(build, container, storage)
        _start(build, container)
        container.reload()
        lane = Address("127.0.0.1", int(container.ports[f"{OBSERVER}/tcp"][0]["HostPort"]))
        try:
            wait.until(
                lambda: _training_over(container, lane),
                what="the training run",
                timeout_seconds=TRAINING_SECONDS,
                interval_seconds=0.1,
            )
            container.kill("SIGTERM")
            container.wait(timeout=TRAINING_SECONDS)
            (build.files / ARCHIVE).write_bytes(container_files.get_files(container, str(NODE / ARCHIVE))[ARCHIVE])
        except (wait.TimedOut, RequestException, APIError, LookupError) as late:
            _append_log(build, container)
            raise not_ready(f"the training run of {build.source.reference} did not end well", build.log) from late


def _training_over(container: Any, lane: Address) -> bool:
    """Whether a first transaction is possible, or the container has ended."""
    if readiness_probe.coordinator(lane, PROBE_ID) is not None and readiness_probe.transaction_possible(lane, PROBE_ID):
        return True
    container.reload()
    return str(container.status) == "exited"


def _launch(version: str, *, archived: bool = False, options: tuple[str, ...] = ()) -> Launch:
    return Launch(
        java=Java(program=Path("java"), build=""),
        class_path=HOME / "class-path",
        version=version,
        archive=HOME / ARCHIVE if archived else None,
        options=options,
        logging=HOME,
    )


@contextmanager
def _container(build: _ImageBuild, arguments: list[Any]) -> Iterator[Any]:
    """A container of the source that runs ``java``, on the edge network, with the observer's port published."""
    with engine_errors():
        create = partial(
            build.run.container,
            build.source.id,
            entrypoint=["java"],
            command=list(map(str, arguments)),
            user="0:0",
            network=networks.network_name(build.run, EDGE),
            extra_hosts={name(1): "127.0.0.1", name(CONTROLLER): "127.0.0.1"},
            ports={f"{OBSERVER}/tcp": ("127.0.0.1", None)},
        )
        (container,) = in_parallel(create)
        try:
            yield container
        finally:
            container.remove(v=True, force=True)


def _put_files(build: _ImageBuild, container: Any, storage: Storage) -> None:
    bound = {lane.upper(): Address("0.0.0.0", port) for lane, port in LANE_PORTS.items()}  # noqa: S104  its own network
    advertised = {lane.upper(): Address("127.0.0.1", port) for lane, port in LANE_PORTS.items()}
    links = {"LINK": Address(name(1), LINK)}
    settings = node_properties.of_training(
        Listeners(bound={**links, **bound}, advertised={**links, **advertised}), quorum=QUORUM, data=str(DATA)
    )
    files: dict[str, bytes | Path] = {str(SETTINGS): render(settings).encode()}
    files |= {str(HOME / file.name): file for file in build.files.iterdir() if file.is_file()}
    files |= {str(DATA / file): content for file, content in storage.items()}
    container_files.put_files(container, files, (str(HOME), str(NODE), str(DATA)))


def _start(build: _ImageBuild, container: Any) -> None:
    try:
        container.start()
    except APIError as error:
        if "executable file not found" not in str(error):
            raise
        sentence = f"{build.source.reference} has no java on its PATH; give an image that Kafka runs in"
        raise UserError(sentence, exit=ExitCode.TARGET_UNKNOWN) from error


def _append_log(build: _ImageBuild, container: Any) -> None:
    with build.log.open("ab") as log:
        log.write(container.logs())


def _java(log: Path) -> str:
    """The JVM's build, as ``-showversion`` prints it: ``17.0.15+6-Debian-1deb12u1``."""
    found = re.search(r"Runtime Environment.*\(build ([^)]+)\)", log.read_text(errors="replace"))
    return found[1] if found else "unknown"


def _no_kafka(source: ImageSource, why: str) -> UserError:
    sentence = f"{source.reference} holds no Kafka: {why}; name Kafka's folder behind a #: image:<reference>#<folder>"
    return UserError(sentence, exit=ExitCode.TARGET_UNKNOWN)
