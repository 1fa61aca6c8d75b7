"""Load a Java agent into a JVM that runs, by HotSpot's own attach protocol.

Agents of ours are loaded when they are first needed: on the command line each of them would cost every start of every
node its time, and the judged Kafka would run with them even when nobody asks. The protocol is what ``jcmd`` speaks:
a file with the JVM's process id and a SIGQUIT ask it to listen on a Unix socket, and a request is strings that end in
zero bytes. Speaking it here needs neither a JDK beside the JRE nor a JVM of its own for each request.
"""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.base import wait

VERSION = "1"
WITHIN = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachEndpoint:
    """How a JVM is reached.

    :param pid: Its process id, as it knows it itself.
    :param tmp: Its ``/tmp``, as we see it: HotSpot always opens its socket there.
    :param asking: The folder, its own working one or ``/tmp``, where a file asks it to open the socket.
    :param quit: Sends it SIGQUIT, upon which it looks for that file.
    """

    pid: int
    tmp: Path
    asking: Path
    quit: Callable[[], None]


def load_agent(door: AttachEndpoint, agent: Path, options: str) -> None:
    """Load an agent's jar.

    :raises RuntimeError: With the JVM's words, when it does not take the agent.
    """
    request = [VERSION, "load", "instrument", "false", f"{agent}={options}"]
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(WITHIN)
        connection.connect(str(_listening(door)))
        connection.sendall(b"".join(part.encode() + b"\0" for part in request))
        answer = _all(connection).splitlines()
    # "0" for the request, then the agent's own result, which newer JVMs write as "return code: 0".
    codes = [line.rpartition(" ")[2] for line in answer[:2]]
    if not answer or any(code != "0" for code in codes):
        raise RuntimeError(f"the JVM {door.pid} did not load {agent.name}: {' '.join(answer) or 'no answer'}")


def _listening(door: AttachEndpoint) -> Path:
    """The JVM's socket, which it opens when it is first asked to."""
    sock = door.tmp / f".java_pid{door.pid}"
    if not sock.exists():
        asking = door.asking / f".attach_pid{door.pid}"
        asking.touch()
        try:
            door.quit()
            wait.until(sock.exists, what=f"the attach socket of JVM {door.pid}", within=WITHIN)
        finally:
            asking.unlink(missing_ok=True)
    return sock


def _all(connection: socket.socket) -> str:
    received = b""
    while part := connection.recv(4096):
        received += part
    return received.decode()
