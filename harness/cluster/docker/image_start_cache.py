"""What makes a second start quick, in an image of its own: formatted storage and an archive of parsed classes.

Made once for an image with Kafka, on top of it, so that class path, jars and JVM are those that the archive was made
with. One container formats storage by Kafka's own tool, one runs a combined node up to its first transaction and ends
in order, upon which the JVM writes the archive; then both are built in. A version is read off the server's jar.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from harness.base import wait
from harness.base.addresses import Address
from harness.base.user_error import ExitCode, UserError
from harness.cluster.docker import container_files, images, networks
from harness.cluster.docker.container_addresses import EDGE
from harness.cluster.docker.engine import APIError, RequestException, refused, together
from harness.cluster.docker.images import ImageSource, Recipe
from harness.cluster.docker.ownership import OwnedResources
from harness.cluster.nodes import node_properties, readiness_probe
from harness.cluster.nodes.jvm_command import Launch, class_path
from harness.cluster.nodes.node_ports import LANE_PORTS, LINK, OBSERVER, QUORUM
from harness.cluster.nodes.node_properties import COMPOSE, Listeners, name, render
from harness.cluster.nodes.startup_error import not_ready
from harness.cluster.nodes.storage import KEPT, new_id
from harness.cluster.topology import CONTROLLER
from harness.machine import download_cache
from harness.machine.toolchain import Java

LAYOUT = "1"  # of the image; a change of it changes this
HOME = Path("/fencepost")
NODE = Path("/node")
SETTINGS, DATA, ARCHIVE = NODE / "server.properties", NODE / "data", "classes.jsa"
LOGGING = ("log4j.properties", "log4j2.properties")
VERSION, JAVA = "fencepost.kafka", "fencepost.java"
TRAINING = 120.0
FIRST = "fencepost-first"


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
class _Workshop:
    """Where the image is made: on whose behalf, from which image, where the log goes, and a folder for the parts."""

    run: OwnedResources
    source: ImageSource
    log: Path
    parts: Path


def make_start_image(
    run: OwnedResources, source: ImageSource, folder: Path, logs: Path, progress: Callable[[str], None]
) -> StartImage:
    """The image for this source, made where it is missing.

    :raises Trouble: TARGET_UNKNOWN, when the source holds no Kafka or no Java; NOT_READY, when its Kafka does not run.
    """
    texts = [(COMPOSE / file).read_text() for file in LOGGING]
    tag = f"fencepost/warm:{download_cache.fingerprint([LAYOUT, source.id, source.home, *texts])}"
    if not images.local(run.engine, tag):
        progress(f"preparing {source.reference} for quick starts (once; some 20 s)")
        _make(_Workshop(run=run, source=source, log=logs / "preparing.log", parts=folder / "parts"), tag)
    labels: Mapping[str, str] = run.engine.sdk.images.get(tag).labels
    return StartImage(image=tag, version=labels[VERSION], java=labels[JAVA])


def _make(shop: _Workshop, tag: str) -> None:
    shop.parts.mkdir()
    version, jars = _look(shop)
    paths = [Path(shop.source.home, "libs", jar) for jar in jars]
    (shop.parts / "class-path").write_text(class_path(paths))
    for file in LOGGING:
        (shop.parts / file).write_bytes((COMPOSE / file).read_bytes())
    storage = _format(shop, version)
    (shop.parts / "storage").mkdir()
    for file, content in storage.items():
        (shop.parts / "storage" / file).write_bytes(content)
    _train(shop, version, storage)
    says = {VERSION: version, JAVA: _java(shop.log)}
    source = {"SOURCE": shop.source.id}
    recipe = Recipe(dockerfile="warm.Dockerfile", context=shop.parts, arguments=source, labels=says)
    images.build(shop.run.engine, tag, recipe)


def _look(shop: _Workshop) -> tuple[str, list[str]]:
    """Kafka's version and its jars, sorted."""
    with _container(shop, ["-version"]) as container:
        try:
            jars = [jar for jar in container_files.names(container, f"{shop.source.home}/libs") if jar.endswith(".jar")]
        except LookupError as missing:
            raise _no_kafka(shop.source, str(missing)) from missing
    servers = (re.fullmatch(r"kafka_2\.1\d-(\d[\w.]*(?:-\w+)?)\.jar", jar) for jar in jars)
    versions = [found[1] for found in servers if found and not found[1].endswith(("-sources", "-javadoc", "-test"))]
    if not versions:
        raise _no_kafka(shop.source, f"{shop.source.home}/libs has no kafka_2.13-<version>.jar")
    return versions[0], jars


def _format(shop: _Workshop, version: str) -> Mapping[str, bytes]:
    tool = ("kafka.tools.StorageTool", "format", "-t", new_id(), "-c", SETTINGS)
    command = _launch(version).command(*tool, flags=["-showversion"])[1:]
    with _container(shop, command) as container:
        _furnish(shop, container, {})
        _start(shop, container)
        failure = _failure(container)
        _keep_words(shop, container)
        if failure:
            raise not_ready(f"the storage tool of {shop.source.reference} {failure}", shop.log)
        made = container_files.get(container, str(DATA))
    return {file: content for file, content in made.items() if file in KEPT}


def _failure(container: Any) -> str | None:
    try:
        return "failed" if container.wait(timeout=TRAINING)["StatusCode"] else None
    except RequestException:
        return f"did not end within {TRAINING:g} s"


def _train(shop: _Workshop, version: str, storage: Mapping[str, bytes]) -> None:
    """Run a combined node up to its first transaction; a JVM that cannot make an archive writes none."""
    flags = [f"-XX:ArchiveClassesAtExit={NODE / ARCHIVE}"]
    with _container(shop, _launch(version).command("kafka.Kafka", SETTINGS, flags=flags)[1:]) as container:
        _furnish(shop, container, storage)
        _start(shop, container)
        container.reload()
        lane = Address("127.0.0.1", int(container.ports[f"{OBSERVER}/tcp"][0]["HostPort"]))
        try:
            wait.until(lambda: _decided(container, lane), what="the training run", within=TRAINING, every=0.1)
            container.kill("SIGTERM")
            container.wait(timeout=TRAINING)
            (shop.parts / ARCHIVE).write_bytes(container_files.get(container, str(NODE / ARCHIVE))[ARCHIVE])
        except (wait.NotInTime, RequestException, APIError, LookupError) as late:
            _keep_words(shop, container)
            raise not_ready(f"the training run of {shop.source.reference} did not end well", shop.log) from late


def _decided(container: Any, lane: Address) -> bool:
    """True when a first transaction is possible, or never will be."""
    if readiness_probe.coordinator(lane, FIRST) is not None and readiness_probe.transaction_possible(lane, FIRST):
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
def _container(shop: _Workshop, arguments: list[Any]) -> Iterator[Any]:
    """A container of the source that runs ``java``; on the edge, with the observer's port published."""
    with refused():
        create = partial(
            shop.run.container,
            shop.source.id,
            entrypoint=["java"],
            command=list(map(str, arguments)),
            user="0:0",
            network=networks.name(shop.run, EDGE),
            extra_hosts={name(1): "127.0.0.1", name(CONTROLLER): "127.0.0.1"},
            ports={f"{OBSERVER}/tcp": ("127.0.0.1", None)},
        )
        (container,) = together(create)
        try:
            yield container
        finally:
            container.remove(v=True, force=True)


def _furnish(shop: _Workshop, container: Any, storage: Mapping[str, bytes]) -> None:
    bound = {lane.upper(): Address("0.0.0.0", port) for lane, port in LANE_PORTS.items()}  # noqa: S104  its own network
    told = {lane.upper(): Address("127.0.0.1", port) for lane, port in LANE_PORTS.items()}
    links = {"LINK": Address(name(1), LINK)}
    settings = node_properties.of_training(
        Listeners(bound={**links, **bound}, told={**links, **told}), quorum=QUORUM, data=str(DATA)
    )
    files: dict[str, bytes | Path] = {str(SETTINGS): render(settings).encode()}
    files |= {str(HOME / part.name): part for part in shop.parts.iterdir() if part.is_file()}
    files |= {str(DATA / file): content for file, content in storage.items()}
    container_files.put(container, files, (str(HOME), str(NODE), str(DATA)))


def _start(shop: _Workshop, container: Any) -> None:
    try:
        container.start()
    except APIError as error:
        if "executable file not found" not in str(error):
            raise
        sentence = f"{shop.source.reference} has no java on its PATH; give an image that Kafka runs in"
        raise UserError(sentence, exit=ExitCode.TARGET_UNKNOWN) from error


def _keep_words(shop: _Workshop, container: Any) -> None:
    with shop.log.open("ab") as log:
        log.write(container.logs())


def _java(log: Path) -> str:
    """The JVM's build, as ``-showversion`` says it: ``17.0.15+6-Debian-1deb12u1``."""
    said = re.search(r"Runtime Environment.*\(build ([^)]+)\)", log.read_text(errors="replace"))
    return said[1] if said else "unknown"


def _no_kafka(source: ImageSource, why: str) -> UserError:
    sentence = f"{source.reference} holds no Kafka: {why}; name Kafka's folder behind a #: image:<reference>#<folder>"
    return UserError(sentence, exit=ExitCode.TARGET_UNKNOWN)
