"""Load a Java agent into a JVM that runs, by HotSpot's own attach protocol.

Agents of ours are loaded when they are first needed: on the command line each of them would cost every start of every
node its time, and the judged Kafka would run with them even when nobody asks. The protocol is what ``jcmd`` speaks:
a file with the JVM's process id and a SIGQUIT ask it to listen on a Unix socket, and a request is strings that end in
zero bytes. Speaking it here needs neither a JDK beside the JRE nor a JVM of its own for each request.
"""

import signal
import socket
from pathlib import Path

import psutil

from harness import wait

VERSION = "1"
WITHIN = 10.0


def load_agent(pid: int, agent: Path, options: str) -> None:
    """Load an agent's jar.

    :raises RuntimeError: With the JVM's words, when it does not take the agent.
    """
    request = [VERSION, "load", "instrument", "false", f"{agent}={options}"]
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(WITHIN)
        connection.connect(str(_listening(pid)))
        connection.sendall(b"".join(part.encode() + b"\0" for part in request))
        answer = _all(connection).splitlines()
    # "0" for the request, then the agent's own result, which newer JVMs write as "return code: 0".
    codes = [line.rpartition(" ")[2] for line in answer[:2]]
    if not answer or any(code != "0" for code in codes):
        raise RuntimeError(f"the JVM {pid} did not load {agent.name}: {' '.join(answer) or 'no answer'}")


def _listening(pid: int) -> Path:
    """The JVM's socket, which it opens when it is first asked to."""
    sock = Path(f"/proc/{pid}/root/tmp/.java_pid{pid}")  # HotSpot always takes /tmp, as that process sees it
    if not sock.exists():
        asking = Path(f"/proc/{pid}/cwd/.attach_pid{pid}")
        asking.touch()
        try:
            psutil.Process(pid).send_signal(signal.SIGQUIT)
            wait.until(sock.exists, what=f"the attach socket of JVM {pid}", within=WITHIN)
        finally:
            asking.unlink(missing_ok=True)
    return sock


def _all(connection: socket.socket) -> str:
    received = b""
    while part := connection.recv(4096):
        received += part
    return received.decode()
