"""Formatted storage: two small files, which copied with other ids are what ``kafka-storage.sh format`` would write."""

import base64
import re
import uuid

META, BOOTSTRAP = "meta.properties", "bootstrap.checkpoint"
STORAGE_FILES = (META, BOOTSTRAP)


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
