"""The gate as its users call it: starts its process, leads proxies through it, adds rules, reads what they struck."""

import json
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TextIO

from harness.base import wait
from harness.base.addresses import Address
from harness.base.json_value import Json
from harness.cluster.cluster import Links
from harness.evidence.json_codec import from_plain, to_plain
from harness.faults.frame_gate import GateFailed
from harness.faults.frame_rule import Rule, RuleReport

END_SECONDS = 5.0
"""Seconds that the gate's process may take to end before it is killed."""
LAST_RESPONSES_SECONDS = 2.0
"""Seconds that brokers have, after a rule is off, to answer what it forwarded, so that its report is complete."""


@dataclass(slots=True, kw_only=True)
class GateRuleHandle:
    """Fills :class:`harness.faults.frame_gate.RuleHandle`."""

    gate: "Gate"
    rule: Rule

    def report(self) -> RuleReport:
        return self.gate.report(self.rule.name)

    def off(self) -> RuleReport:
        self.gate.command("off", rule=self.rule.name)
        wait.elapsed_ms_until(self._complete, timeout_seconds=LAST_RESPONSES_SECONDS)
        return self.report()

    def _complete(self) -> bool:
        report = self.report()
        return report.holding == 0 and report.unanswered == 0


@dataclass(slots=True, kw_only=True)
class Gate:
    """Fills :class:`harness.faults.frame_gate.FrameGate`: the gate's process, and the proxies that lead to it."""

    links: Links
    process: "subprocess.Popen[bytes]"
    pipe: socket.socket
    _lines: TextIO
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _listening: dict[str, Address] = field(default_factory=dict)
    _rules: int = 0

    def intercept(self, *proxies: str) -> None:
        for proxy in proxies:
            upstream = self.links.upstream(proxy)
            if upstream == self._listening.get(proxy):
                continue
            if proxy not in self._listening:
                self._listening[proxy] = self._listen(proxy, upstream)
            self.links.redirect(proxy, self._listening[proxy])

    def add_rule(self, rule: Rule) -> GateRuleHandle:
        with self._lock:
            self._rules += 1
            numbered = replace(rule, name=f"{rule.name}-{self._rules}")
        self.command("add", rule=to_plain(numbered))
        return GateRuleHandle(gate=self, rule=numbered)

    def report(self, name: str) -> RuleReport:
        return from_plain(RuleReport, self.command("report", rule=name))

    def errors(self) -> tuple[str, ...]:
        try:
            noted = self.command("errors")
        except GateFailed as ended:
            return (str(ended),)
        return tuple(map(str, noted)) if isinstance(noted, list) else ()

    def close(self) -> None:
        for proxy in list(self._listening):
            del self._listening[proxy]
            with suppress(OSError, LookupError):
                self.links.restore(proxy)
        with suppress(OSError):
            self.pipe.shutdown(socket.SHUT_RDWR)
        self._lines.close()
        self.pipe.close()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(END_SECONDS)

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

    def _listen(self, proxy: str, upstream: Address) -> Address:
        host = self.links.host_for_proxies
        port = self.command("listen", proxy=proxy, host=host, upstream=[upstream.host, upstream.port])
        assert isinstance(port, int)
        return Address(host, port)


def open_gate(links: Links) -> Gate:
    """Start the gate's process; no proxy leads to it yet."""
    ours, its = socket.socketpair()
    with its:
        process = subprocess.Popen(
            [sys.executable, "-m", "harness.faults.gate", str(its.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[its.fileno()],
            start_new_session=True,  # a terminal's Ctrl-C reaches us alone, and we end it in our order
        )
    return Gate(links=links, process=process, pipe=ours, _lines=ours.makefile("r", encoding="utf-8"))
