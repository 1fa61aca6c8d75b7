"""Whether a target can be opened in containers, asked before anything is pulled, built or started."""

from contextlib import closing

from harness.base.user_error import UserError
from harness.cluster.docker import images
from harness.cluster.docker.engine import reach, refused
from harness.cluster.target import Target


def lacking(target: Target) -> str | None:
    """Why not, in a phrase, or None: no engine answers, or no image is there and none can be had."""
    try:
        with refused(), closing(reach()) as engine:
            return images.lack(engine, target)
    except UserError as error:
        return str(error).partition(";")[0]
