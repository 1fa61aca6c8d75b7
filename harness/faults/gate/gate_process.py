"""The gate's process as seen from ours: commands as lines of JSON over a pipe, each answered by one line."""

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TextIO

from harness.base.addresses import Address
from harness.base.json_value import Json
from harness.faults.frame_gate import GateFailed
from harness.wire.security.security import Security

END_SECONDS = 5.0
"""Seconds that the gate's process may take to end before it is killed."""


@dataclass(slots=True, kw_only=True)
class GateProcess:
    """One process; safe to use from any thread."""

    process: "subprocess.Popen[bytes]"
    pipe: socket.socket
    _lines: TextIO
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def listen(self, proxy: str, host: str, upstream: Address, server_name: str = "") -> Address:
        """Forward to ``upstream`` from a new port of ``host``; its certificate must be for ``server_name``."""
        port = self.command(
            "listen", proxy=proxy, host=host, upstream=str(upstream), server_name=server_name or upstream.host
        )
        assert isinstance(port, int)
        return Address(host, port)

    def secure(self, security: Security) -> None:
        """From now on connect to brokers so. The process reads the file that it came from: no secret is passed on."""
        if not security.plaintext:
            self.command("secure", file=security.file)

    def keep_on_lane(self, proxies: Iterable[str], addresses: Mapping[int, Address], hosts: Iterable[str]) -> None:
        """Replace brokers' addresses in answers on these proxies by ``addresses``, by node; ``hosts`` are theirs."""
        nodes: Json = {str(node): str(address) for node, address in addresses.items()}
        self.command("keep", proxies=[*proxies], nodes=nodes, hosts=[*hosts])

    def texts(self, name: str) -> tuple[str, ...]:
        """The answer to a command that gives sentences; :raises GateFailed: as :meth:`command` does."""
        found = self.command(name)
        return tuple(map(str, found)) if isinstance(found, list) else ()

    def command(self, name: str, **arguments: Json) -> Json:
        """One command and its reply; :raises GateFailed: when it was refused, or the gate has ended."""
        with self._lock:
            try:
                self.pipe.sendall((json.dumps({"do": name, **arguments}) + "\n").encode())
                line = self._lines.readline()
            except (OSError, ValueError) as error:
                raise GateFailed(f"the gate is gone: {error}") from error
        if not line:
            raise GateFailed("the gate is gone")
        reply = json.loads(line)
        if "refused" in reply:
            raise GateFailed(f"the gate cannot {name}: {reply['refused']}")
        done: Json = reply["done"]
        return done

    def close(self) -> None:
        """End it. May be called twice."""
        with suppress(OSError):
            self.pipe.shutdown(socket.SHUT_RDWR)
        self._lines.close()
        self.pipe.close()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(END_SECONDS)


def start_gate_process() -> GateProcess:
    """A process that listens nowhere yet."""
    ours, its = socket.socketpair()
    with its:
        process = subprocess.Popen(
            [sys.executable, "-m", "harness.faults.gate", str(its.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[its.fileno()],
            start_new_session=True,  # a terminal's Ctrl-C reaches us alone, and we end it in our order
        )
    return GateProcess(process=process, pipe=ours, _lines=ours.makefile("r", encoding="utf-8"))
