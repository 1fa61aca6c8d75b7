"""Every backend, the preferred one first: the one table to add another to."""

from harness.cluster.backend import Backend
from harness.cluster.docker.docker_backend import DOCKER
from harness.cluster.external import EXTERNAL
from harness.cluster.process.process_backend import PROCESS

BACKENDS: tuple[Backend, ...] = (DOCKER, PROCESS, EXTERNAL)
AUTO = "auto"
BACKEND_NAMES = (AUTO, *(backend.name for backend in BACKENDS))
"""What ``--backend`` takes."""
