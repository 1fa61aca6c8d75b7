"""The gate as toxics use it: started at first use, put into the path of proxies, told rules, asked what it struck."""

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TextIO

from harness.base import wait
from harness.base.addresses import Address
from harness.base.json_value import Json
from harness.cluster.cluster import Links
from harness.evidence.json_codec import from_plain, to_json
from harness.faults.gate.rule import Account, Rule

ENDING = 5.0
LAST_ANSWERS = 2.0
"""Seconds that brokers have, after a rule is off, to answer what it forwarded, so that its account is whole."""


class GateFailed(Exception):
    """The gate cannot be put into a path, does not know a rule, or is gone; the text says which."""


@dataclass(slots=True, kw_only=True)
class RuleHandle:
    """A rule that is on."""

    gate: "Gate"
    rule: Rule

    def account(self) -> Account:
        """What it has done so far; also after it is off."""
        return self.gate.account(self.rule.name)

    def release(self) -> None:
        """Deliver all that it holds now; it goes on striking."""
        self.gate.say("release", rule=self.rule.name)

    def off(self) -> Account:
        """Take it off, deliver what it holds, and give its last account. Twice is no error."""
        self.gate.say("off", rule=self.rule.name)
        wait.holds_after(self._over, within=LAST_ANSWERS)
        return self.account()

    def _over(self) -> bool:
        account = self.account()
        return account.holding == 0 and account.owing == 0


@dataclass(slots=True, kw_only=True)
class Gate:
    """The gate's process and the proxies that lead to it. Safe to use from any thread."""

    links: Links
    process: "subprocess.Popen[bytes]"
    pipe: socket.socket
    _lines: TextIO
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _ports: dict[str, Address] = field(default_factory=dict)
    _rules: int = 0

    def through(self, *proxies: str) -> None:
        """Put the gate into the path of proxies. Their open connections end once; those that follow pass the gate.

        :raises GateFailed: Where the proxies cannot reach us.
        """
        for proxy in proxies:
            leads_to = self.links.upstream(proxy)
            if leads_to == self._ports.get(proxy):
                continue
            if proxy not in self._ports:
                self._ports[proxy] = self._listen(proxy, leads_to)
            self.links.redirect(proxy, self._ports[proxy])

    @contextmanager
    def engaged(self, rule: Rule) -> Iterator[RuleHandle]:
        """The rule is on for the length of the block, on proxies that lead through the gate; then it is off."""
        self.through(*rule.proxies)
        engagement = self.engage(rule)
        try:
            yield engagement
        finally:
            engagement.off()

    def engage(self, rule: Rule) -> RuleHandle:
        """Put a rule on, under its name and a number that makes it unique."""
        with self._lock:
            self._rules += 1
            own = replace(rule, name=f"{rule.name}-{self._rules}")
        self.say("add", rule=json.loads(to_json(own)))
        return RuleHandle(gate=self, rule=own)

    def account(self, name: str) -> Account:
        """A rule's account; :raises GateFailed: when there never was such a rule."""
        return from_plain(Account, self.say("account", rule=name))

    def troubles(self) -> tuple[str, ...]:
        """What went wrong in the gate itself; a request that it could not judge has passed."""
        told = self.say("troubles")
        return tuple(map(str, told)) if isinstance(told, list) else ()

    def close(self) -> None:
        """Proxies lead to where they led; held requests are gone. May be called twice; never raises for a lost gate."""
        for proxy in list(self._ports):
            del self._ports[proxy]
            with suppress(OSError, LookupError):
                self.links.restore(proxy)
        with suppress(OSError):
            self.pipe.shutdown(socket.SHUT_RDWR)
        self._lines.close()
        self.pipe.close()
        try:
            self.process.wait(ENDING)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(ENDING)

    def say(self, what: str, **more: Json) -> Json:
        """One command and its answer; :raises GateFailed: when it was refused, or nobody is there."""
        with self._lock:
            try:
                self.pipe.sendall((json.dumps({"do": what, **more}) + "\n").encode())
                line = self._lines.readline()
            except (OSError, ValueError) as error:
                raise GateFailed(f"the gate is gone: {error}") from error
        if not line:
            raise GateFailed("the gate is gone")
        answer = json.loads(line)
        if "refused" in answer:
            raise GateFailed(f"the gate cannot {what}: {answer['refused']}")
        done: Json = answer["done"]
        return done

    def _listen(self, proxy: str, upstream: Address) -> Address:
        host = self.links.doorstep
        port = self.say("listen", proxy=proxy, host=host, upstream=[upstream.host, upstream.port])
        assert isinstance(port, int)
        return Address(host, port)


def open_gate(links: Links) -> Gate:
    """Start the gate's process; nothing is led to it yet."""
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
