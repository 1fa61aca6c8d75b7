"""Engines that cannot be used: the command prints one sentence with the remedy, and exits with its code."""

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from harness.base.user_error import ExitCode
from harness.cluster.docker import engine, images
from harness.cluster.target import parse_target
from suites.selfcheck.fixtures.command import fencepost
from suites.selfcheck.fixtures.user_errors import raises_user_error

UP = ("up", "kafka:4.3.1", "--backend", "docker")


@pytest.fixture
def socket_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The socket at which the command looks for its engine; pytest's folders are too long for a socket's path."""
    path = Path(f"/tmp/fencepost-{os.getpid()}.sock")  # noqa: S108
    monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
    yield path
    path.unlink(missing_ok=True)


@contextmanager
def answering(socket_path: Path, answer: Callable[[str], bytes]) -> Iterator[None]:
    """A server on that socket, which answers each request by its first line."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(socket_path))
        socket_path.chmod(0o666)
        listening.listen()
        serving = threading.Thread(target=_serve, args=(listening, answer))
        serving.start()
        try:
            yield
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            serving.join()


def _serve(listening: socket.socket, answer: Callable[[str], bytes]) -> None:
    with suppress(OSError):  # the socket is shut down
        while True:
            caller, _ = listening.accept()
            with caller:
                if request := caller.recv(65536):  # nothing from a client that only connects
                    caller.sendall(answer(request.decode().partition("\r\n")[0]))


def version(api: str) -> Callable[[str], bytes]:
    """An engine's answer to the first question that its clients ask."""
    body = json.dumps({"Version": "1", "ApiVersion": api, "MinAPIVersion": "1.12"}).encode()
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return lambda asked: head.encode() + body if asked.startswith("GET /version ") else b""


def assert_one_sentence(sentence: str) -> None:
    """The command, run without root's rights, ends with one line that has ``sentence`` in it."""
    ran = fencepost(*UP, nobody=True)
    assert ran.returncode == ExitCode.TOOL_MISSING
    assert sentence in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(("api", "named"), [("1.39", "1.39"), ("1.18", "not known any more")])
def test_an_engine_that_is_too_old_is_one_sentence(socket_path: Path, api: str, named: str) -> None:
    with answering(socket_path, version(api)):
        assert_one_sentence(
            f"the container engine is too old (its API is {named}, needed is 1.40); install Docker 19.03"
        )


@pytest.mark.parametrize("api", ["1.39", "1.18"])
def test_auto_takes_processes_where_the_engine_is_too_old(socket_path: Path, api: str) -> None:
    with answering(socket_path, version(api)):
        assert "the container engine is too old" in str(images.unavailable(parse_target("kafka:4.3.1")))


def test_a_socket_that_may_not_be_used_is_one_sentence(socket_path: Path) -> None:
    with answering(socket_path, version("1.41")):
        socket_path.chmod(0)
        assert_one_sentence("your user may not use its socket; join the group docker (usermod -aG docker $USER)")


def test_a_server_that_is_no_engine_is_one_sentence(socket_path: Path) -> None:
    with (
        answering(socket_path, lambda _: b"SSH-2.0-OpenSSH_9.2\r\n"),
        raises_user_error(ExitCode.TOOL_MISSING) as error,
    ):
        engine.reach()
    assert f"no container engine answers at unix://{socket_path}; correct DOCKER_HOST" in str(error.value)


@pytest.mark.parametrize("named", ["unix:///nobody.sock", "tcp://127.0.0.1:1", "nonsense:", "http://nobody:99999"])
def test_an_engine_that_is_named_and_does_not_answer_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.setenv("DOCKER_HOST", named)
    with raises_user_error(ExitCode.TOOL_MISSING) as error:
        engine.reach()
    assert f"no container engine answers at {named}; correct DOCKER_HOST" in str(error.value)
    assert str(images.unavailable(parse_target("kafka:4.3.1"))) == f"no container engine answers at {named}"
