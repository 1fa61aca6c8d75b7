"""Load a Java agent into a JVM that runs, by HotSpot's own attach protocol.

Our agents are loaded when they are first needed: on the command line each of them would slow every start of every
node, and the judged Kafka would run with them even when they are not needed. The protocol is that of ``jcmd``: a file
with the JVM's process id and a SIGQUIT make it listen on a Unix socket, and a request is strings that end in zero
bytes. It is implemented here because ``jcmd`` needs a JDK, and a JVM of its own for each request.
"""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.base import wait

VERSION = "1"
ANSWER_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachEndpoint:
    """The attach endpoint of a JVM.

    :param pid: Its process id, as it knows it itself.
    :param tmp: Its ``/tmp``, as we see it: HotSpot always opens its socket there.
    :param request_folder: Its working directory or ``/tmp``, where a file requests it to open the socket.
    :param send_quit: Sends it SIGQUIT, upon which it looks for that file.
    """

    pid: int
    tmp: Path
    request_folder: Path
    send_quit: Callable[[], None]


def load_agent(endpoint: AttachEndpoint, agent: Path, options: str) -> None:
    """Load an agent's jar; :raises RuntimeError: with the JVM's answer, when it does not take the agent."""
    request = [VERSION, "load", "instrument", "false", f"{agent}={options}"]
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(ANSWER_SECONDS)
        connection.connect(str(_listening(endpoint)))
        connection.sendall(b"".join(part.encode() + b"\0" for part in request))
        answer = _all(connection).splitlines()
    # "0" for the request, then the agent's own result, which newer JVMs write as "return code: 0".
    codes = [line.rpartition(" ")[2] for line in answer[:2]]
    if not answer or any(code != "0" for code in codes):
        raise RuntimeError(f"the JVM {endpoint.pid} did not load {agent.name}: {' '.join(answer) or 'no answer'}")


def _listening(endpoint: AttachEndpoint) -> Path:
    """The JVM's socket, which it opens when it is first asked to."""
    sock = endpoint.tmp / f".java_pid{endpoint.pid}"
    if not sock.exists():
        requested = endpoint.request_folder / f".attach_pid{endpoint.pid}"
        requested.touch()
        try:
            endpoint.send_quit()
            wait.until(sock.exists, what=f"the attach socket of JVM {endpoint.pid}", timeout_seconds=ANSWER_SECONDS)
        finally:
            requested.unlink(missing_ok=True)
    return sock


def _all(connection: socket.socket) -> str:
    received = b""
    while part := connection.recv(4096):
        received += part
    return received.decode()
