"""The container engine: reached by testcontainers' client, which knows contexts, sockets and credentials.

The only file that imports the two libraries; the rest of the backend uses what is bound here. What the engine refuses
is told in its own words, in one sentence, with an exit code by what was refused.
"""

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from docker.errors import APIError, BuildError, DockerException, ImageNotFound, InvalidVersion, NotFound
from docker.types import Mount
from requests import RequestException
from testcontainers.core.docker_client import DockerClient, get_docker_host
from testcontainers.core.labels import create_labels

from harness.base.user_error import ExitCode, UserError

__all__ = ["APIError", "BuildError", "Engine", "ImageNotFound", "Mount", "NotFound", "RequestException"]
__all__ += ["create_labels", "no_room", "reach", "refused", "tells_of_full_disk", "together"]

PATIENCE = 2.0  # for an engine to say who it is
WORKING = 120.0  # for one piece of its work
OLDEST_API = (1, 40)  # Docker 19.03
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine that answers."""

    wrapped: DockerClient

    @property
    def sdk(self) -> Any:
        """The docker SDK's client."""
        return self.wrapped.client

    @property
    def on_this_machine(self) -> bool:
        """Whether its files and networks are this machine's, so that a JVM can be reached round Toxiproxy."""
        return Path("/var/run/docker.sock").exists() and str(self.sdk.api.base_url).startswith("http+docker")

    def close(self) -> None:
        """Hang up."""
        self.sdk.close()


def reach(patience: float = WORKING) -> Engine:
    """The engine that the user's environment names; an answer of its may take so many seconds from the last byte.

    :raises Trouble: TOOL_MISSING, when none answers, it may not be used, or it is too old.
    """
    try:
        _knock()
        client = DockerClient(timeout=PATIENCE)
    except InvalidVersion as error:  # so old that the SDK does not speak to it
        raise _too_old("not known any more") from error
    except (DockerException, RequestException, OSError, ValueError) as error:
        raise UserError(_why_silent(str(error)), exit=ExitCode.TOOL_MISSING) from error
    speaks = str(client.client.api._version)
    if tuple(map(int, speaks.split("."))) < OLDEST_API:
        client.client.close()
        raise _too_old(speaks)
    client.client.api.timeout = patience
    return Engine(client)


def _knock() -> None:
    """See that somebody listens; the SDK, when nobody does, leaves its socket open."""
    host = get_docker_host() or "unix:///var/run/docker.sock"
    if host.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as door:
            door.settimeout(PATIENCE)
            door.connect(host.removeprefix("unix://"))


def _too_old(speaks: str) -> UserError:
    needed = ".".join(map(str, OLDEST_API))
    sentence = f"the container engine is too old (its API is {speaks}, needed is {needed})"
    return UserError(f"{sentence}; install Docker 19.03 or newer, or use --backend process", exit=ExitCode.TOOL_MISSING)


def _why_silent(said: str) -> str:
    if "PermissionError" in said or "Permission denied" in said:
        remedy = "your user may not use its socket; join the group docker (usermod -aG docker $USER) and log in again"
        return f"the container engine cannot be used: {remedy}"
    if named := get_docker_host():
        return f"no container engine answers at {named}; correct DOCKER_HOST or the context, or use --backend process"
    remedy = "start Docker (systemctl start docker, or dockerd by hand), or use --backend process"
    return f"no container engine answers; {remedy}"


@contextmanager
def refused() -> Iterator[None]:
    """Turn what the engine refuses into one sentence.

    :raises Trouble: NO_ROOM, ADDRESS_IN_USE, or NOT_READY with the engine's own words.
    """
    try:
        yield
    except (APIError, BuildError) as error:
        raise _refusal(str(getattr(error, "explanation", None) or error)) from error
    except RequestException as error:
        sentence = f"the container engine stopped answering ({type(error).__name__}); look at its log and run again"
        raise UserError(sentence, exit=ExitCode.NOT_READY) from error


def _refusal(said: str) -> UserError:
    words = " ".join(said.split())
    if tells_of_full_disk(words):
        return no_room()
    if "port is already allocated" in words or "address already in use" in words or "all ports are allocated" in words:
        sentence = f"no port of 127.0.0.1 could be published ({words}); end what holds them and run again"
        return UserError(sentence, exit=ExitCode.ADDRESS_IN_USE)
    return UserError(f"the container engine refuses: {words}", exit=ExitCode.NOT_READY)


def tells_of_full_disk(said: str) -> bool:
    """Whether the engine, or a program that works for it, met a full disk."""
    return "no space left on device" in said.lower()


def no_room() -> UserError:
    """The sentence for an engine whose disk is full."""
    sentence = "the disk is full where the container engine keeps its data; free some room (docker system prune)"
    return UserError(f"{sentence} and run again", exit=ExitCode.NO_ROOM)


def together(*pieces: Callable[[], Result]) -> list[Result]:
    """Do pieces of work at the same time; all have ended when this returns or raises, also after a Ctrl-C.

    A request that an interrupt cut short would leave a container that nobody knows; in threads none is cut short.
    """
    with ThreadPoolExecutor(max(len(pieces), 1)) as pool:
        futures = [pool.submit(piece) for piece in pieces]
        wait(futures)  # an interrupt comes here, and leaving the pool waits for the rest
    return [future.result() for future in futures]
