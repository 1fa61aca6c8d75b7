"""The container engine, through testcontainers' client, which knows contexts, sockets and credentials.

The only file that imports the two libraries; the rest of the backend uses the names that are bound here. An engine's
error becomes one sentence with the engine's own text, and an exit code by what failed.
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
__all__ += ["create_labels", "disk_full_on_engine", "engine_errors", "in_parallel", "mentions_full_disk", "reach"]

ANSWER_SECONDS = 10.0  # for an engine to answer with its version, on a busy machine too
WORK_SECONDS = 120.0  # for one request to it
OLDEST_API = (1, 40)  # Docker 19.03
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine that answers."""

    wrapped: DockerClient

    @property
    def sdk(self) -> Any:
        return self.wrapped.client

    @property
    def on_this_machine(self) -> bool:
        """Whether its files and networks are this machine's, so that a JVM can be reached round Toxiproxy."""
        return Path("/var/run/docker.sock").exists() and str(self.sdk.api.base_url).startswith("http+docker")

    def close(self) -> None:
        self.sdk.close()


def reach(timeout_seconds: float = WORK_SECONDS) -> Engine:
    """The engine that the user's environment names.

    :param timeout_seconds: How long it may send nothing while we wait for an answer.
    :raises UserError: TOOL_MISSING, when none answers, it may not be used, or it is too old.
    """
    try:
        _check_socket()
        client = DockerClient(timeout=ANSWER_SECONDS)
    except InvalidVersion as error:  # so old that the SDK does not speak to it
        raise _too_old("not known any more") from error
    except (DockerException, RequestException, OSError, ValueError) as error:
        raise UserError(_no_answer(str(error)), exit=ExitCode.TOOL_MISSING) from error
    api = str(client.client.api._version)
    if tuple(map(int, api.split("."))) < OLDEST_API:
        client.client.close()
        raise _too_old(api)
    client.client.api.timeout = timeout_seconds
    return Engine(client)


def _check_socket() -> None:
    """Connect once, because the SDK leaves its socket open when no engine listens.

    :raises OSError: When no engine listens.
    """
    host = get_docker_host() or "unix:///var/run/docker.sock"
    if host.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(ANSWER_SECONDS)
            probe.connect(host.removeprefix("unix://"))


def _too_old(api: str) -> UserError:
    needed = ".".join(map(str, OLDEST_API))
    sentence = f"the container engine is too old (its API is {api}, needed is {needed})"
    return UserError(f"{sentence}; install Docker 19.03 or newer, or use --backend process", exit=ExitCode.TOOL_MISSING)


def _no_answer(error: str) -> str:
    if "PermissionError" in error or "Permission denied" in error:
        remedy = "your user may not use its socket; join the group docker (usermod -aG docker $USER) and log in again"
        return f"the container engine cannot be used: {remedy}"
    if named := get_docker_host():
        return f"no container engine answers at {named}; correct DOCKER_HOST or the context, or use --backend process"
    remedy = "start Docker (systemctl start docker, or dockerd by hand), or use --backend process"
    return f"no container engine answers; {remedy}"


@contextmanager
def engine_errors() -> Iterator[None]:
    """Turn the engine's errors into a UserError of one sentence.

    :raises UserError: NO_ROOM, ADDRESS_IN_USE, or NOT_READY with the engine's own text.
    """
    try:
        yield
    except (APIError, BuildError) as error:
        raise _user_error(str(getattr(error, "explanation", None) or error)) from error
    except RequestException as error:
        sentence = f"the container engine stopped answering ({type(error).__name__}); look at its log and run again"
        raise UserError(sentence, exit=ExitCode.NOT_READY) from error


def _user_error(message: str) -> UserError:
    text = " ".join(message.split())
    if mentions_full_disk(text):
        return disk_full_on_engine()
    if "port is already allocated" in text or "address already in use" in text or "all ports are allocated" in text:
        sentence = f"no port of 127.0.0.1 could be published ({text}); end what holds them and run again"
        return UserError(sentence, exit=ExitCode.ADDRESS_IN_USE)
    return UserError(f"the container engine refuses: {text}", exit=ExitCode.NOT_READY)


def mentions_full_disk(text: str) -> bool:
    """Whether this output, of the engine or of a program that works for it, reports a full disk."""
    return "no space left on device" in text.lower()


def disk_full_on_engine() -> UserError:
    sentence = "the disk is full where the container engine keeps its data; free some room (docker system prune)"
    return UserError(f"{sentence} and run again", exit=ExitCode.NO_ROOM)


def in_parallel(*actions: Callable[[], Result]) -> list[Result]:
    """Run actions at the same time; all have ended when this returns or raises, also after a Ctrl-C.

    An interrupted request could leave a container of which there is no record; requests in threads are not interrupted.
    """
    with ThreadPoolExecutor(max(len(actions), 1)) as pool:
        futures = [pool.submit(action) for action in actions]
        wait(futures)  # an interrupt is raised here, and leaving the pool waits for the rest
    return [future.result() for future in futures]
