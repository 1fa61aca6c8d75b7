"""The target's syntax: ``kafka:<version>``, ``dist:<path>``, ``image:<reference>``, ``external:<host:port,…>``.

A running cluster whose brokers are behind mapped ports may be given by their ids: ``external:1=host:port,2=host:port``.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeAlias

from harness.base.addresses import Address
from harness.base.user_error import ExitCode, UserError

SYNTAX = (
    "kafka:<version> | dist:<Kafka .tgz or unpacked folder> | image:<reference>[#<Kafka's folder>]"
    " | external:<host:port,host:port,…> | external:<id=host:port,id=host:port,…>"
)
KAFKA_HOME = "/opt/kafka"
OLDEST = (3, 3, 2)


@dataclass(frozen=True, slots=True)
class Released:
    """A released version, brought in by the ordinary package client."""

    kind: ClassVar[str] = "a release"
    version: str

    def __str__(self) -> str:
        return f"kafka:{self.version}"


@dataclass(frozen=True, slots=True)
class Distribution:
    """A tarball or an unpacked folder in the layout of the official one (``libs/``, ``bin/``, ``config/``)."""

    kind: ClassVar[str] = "a distribution"
    path: Path

    def __str__(self) -> str:
        return f"dist:{self.path}"


@dataclass(frozen=True, slots=True)
class Image:
    """A container image with a Java on its PATH and Kafka's jars in ``<home>/libs``."""

    kind: ClassVar[str] = "an image"
    reference: str
    home: str = KAFKA_HOME

    def __str__(self) -> str:
        return f"image:{self.reference}" + ("" if self.home == KAFKA_HOME else f"#{self.home}")


@dataclass(frozen=True, slots=True)
class External:
    """A running cluster that is not ours.

    :param nodes: For each address the id of the broker behind it, None where the caller has not told it.
    """

    kind: ClassVar[str] = "a running cluster"
    addresses: tuple[Address, ...]
    nodes: tuple[int | None, ...] = ()

    def __post_init__(self) -> None:
        """Without ids, none is known."""
        if not self.nodes:
            object.__setattr__(self, "nodes", (None,) * len(self.addresses))

    def __str__(self) -> str:
        told = zip(self.nodes, self.addresses, strict=True)
        return "external:" + ",".join(str(at) if node is None else f"{node}={at}" for node, at in told)


Target: TypeAlias = Released | Distribution | Image | External


def parse_target(text: str) -> Target:
    """Read a target.

    >>> str(parse_target("kafka:4.3.1"))
    'kafka:4.3.1'

    :raises UserError: When the text is not a target, with the syntax in the sentence.
    """
    kind, _, rest = text.partition(":")
    match kind:
        case "kafka" if rest:
            return _released(rest)
        case "dist" if rest:
            return Distribution(Path(rest).expanduser().resolve())
        case "image" if rest:
            return _image(rest)
        case "external" if rest:
            return _external(rest)
    raise UserError(f"{text!r} is not a target; write {SYNTAX}", exit=ExitCode.USAGE)


def _released(version: str) -> Released:
    if not re.fullmatch(r"\d+\.\d+\.\d+(-\w+)?", version):
        raise UserError(
            f"{version!r} is not a Kafka version; write for example kafka:4.3.1", exit=ExitCode.TARGET_UNKNOWN
        )
    if tuple(int(part) for part in version.split("-")[0].split(".")) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise UserError(
            f"Kafka {version} is too old; the oldest that can be tried is {oldest}", exit=ExitCode.TARGET_UNKNOWN
        )
    return Released(version)


def _image(text: str) -> Image:
    reference, _, home = text.partition("#")
    home = home.rstrip("/") or KAFKA_HOME
    if not re.fullmatch(r"[\w.:/@-]+", reference) or not home.startswith("/"):
        raise UserError(f"{text!r} is not an image; write image:<reference>[#<Kafka's folder>]", exit=ExitCode.USAGE)
    return Image(reference, home)


def _external(text: str) -> External:
    """``host:port`` or ``id=host:port``, separated by commas."""
    numbered = [re.fullmatch(r"\s*(?:(\d+)=)?(.*)", part, re.DOTALL) for part in text.split(",")]
    parts = [(found[1], _address(found[2])) for found in numbered if found]
    nodes = tuple(None if node is None else int(node) for node, _ in parts)
    given = [node for node in nodes if node is not None]
    if len(set(given)) < len(given):
        raise UserError(f"external:{text} gives two addresses of one broker", exit=ExitCode.USAGE)
    return External(tuple(address for _, address in parts), nodes)


def _address(text: str) -> Address:
    host, _, port = text.strip().rpartition(":")
    if not host or "=" in host or not port.isdigit() or not 0 < int(port) < 65536:
        raise UserError(f"{text!r} is not host:port; write external:<host:port,host:port,…>", exit=ExitCode.USAGE)
    return Address(host, int(port))
