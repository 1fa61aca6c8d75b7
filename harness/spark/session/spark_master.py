"""Whether a standalone master can be reached, checked before Spark is started: Spark itself tries for a minute."""

import re
import socket

from harness.base.user_error import ExitCode, UserError

CONNECT_SECONDS = 3.0
"""What a master may take to accept a connection."""
KINDS = re.compile(r"local|local\[(\*|\d+)(,\d+)?\]|local-cluster\[\d+,\d+,\d+\]|spark://.+|yarn|k8s://.+")
ADDRESS = re.compile(r"([^:,/]+):(\d+)")


def check_master(master: str) -> None:
    """See that it is one, and that an address of ``spark://host:port[,host:port…]`` accepts a connection.

    Other kinds of masters are Spark's own to find.

    :raises UserError: USAGE for a master of no kind that Spark knows; TOOL_MISSING when none answers.
    """
    if not KINDS.fullmatch(master):
        sentence = f"{master} is no Spark master; local[*], spark://host:7077, yarn and k8s://https://host:443 are"
        raise UserError(sentence, exit=ExitCode.USAGE)
    if not master.startswith("spark://"):
        return
    addresses = ADDRESS.findall(master.removeprefix("spark://"))
    if not any(_accepts(host, int(port)) for host, port in addresses):
        sentence = f"no Spark master answers at {master}; start one, or leave --spark-master out to use this machine"
        raise UserError(sentence, exit=ExitCode.TOOL_MISSING)


def first_line(error: Exception) -> str:
    """The first line of a Spark error, of the JVM's where it has one."""
    text = str(getattr(error, "java_exception", None) or error)
    return text.strip().partition("\n")[0]


def _accepts(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=CONNECT_SECONDS):
            return True
    except OSError:
        return False
