"""Formatted storage: two small files, which copied with other ids are what ``kafka-storage.sh format`` would write."""

import base64
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

META, BOOTSTRAP = "meta.properties", "bootstrap.checkpoint"
STORAGE_FILES = (META, BOOTSTRAP)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """How storage is formatted where it is not as the release does it by itself.

    :param features: Levels of features (``{"transaction.version": 0}``); releases from 3.9 on take them.
    :param metadata: The release whose metadata version it is (``"3.9"``).
    """

    features: Mapping[str, int] = field(default_factory=dict)
    metadata: str = ""

    @property
    def arguments(self) -> tuple[str, ...]:
        """What ``kafka-storage.sh format`` is told; () where nothing was wished."""
        release = ("--release-version", self.metadata) if self.metadata else ()
        levels = (("--feature", f"{name}={level}") for name, level in sorted(self.features.items()))
        return (*release, *(word for pair in levels for word in pair))

    def of_another_release(self) -> "Format":
        """For a node of another release than the target's: it may not know the features; the controller decides."""
        return Format(metadata=self.metadata)


def new_id() -> str:
    """A random id as Kafka writes them. One that begins with ``-`` would be read as an option by its tools."""
    while True:
        drawn = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not drawn.startswith("-"):
            return drawn


def with_ids(meta: str, cluster_id: str, node: int) -> str:
    """``meta.properties`` of another node; ``directory.id`` is there from Kafka 3.7 on."""
    for key, value in {"cluster.id": cluster_id, "node.id": str(node), "directory.id": new_id()}.items():
        meta = re.sub(rf"(?m)^{re.escape(key)}=.*$", f"{key}={value}", meta)
    return meta
