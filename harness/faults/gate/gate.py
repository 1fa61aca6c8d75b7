"""The gate as its users call it: starts its process, leads proxies through it, adds rules, reads what they struck."""

import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from threading import Lock

from harness.base import wait
from harness.base.addresses import Address
from harness.cluster.cluster import Cluster, Links
from harness.evidence.client_evidence import Frame
from harness.evidence.json_codec import from_plain, to_plain
from harness.faults.frame_gate import GateFailed
from harness.faults.frame_rule import Rule, RuleReport
from harness.faults.gate.gate_process import GateProcess, start_gate_process

LOCAL = "127.0.0.1"
LAST_RESPONSES_SECONDS = 2.0
"""Seconds that brokers have, after a rule is off, to answer what it forwarded, so that its report is complete."""


@dataclass(slots=True, kw_only=True)
class GateRuleHandle:
    """Fills :class:`harness.faults.frame_gate.RuleHandle`."""

    gate: "Gate"
    rule: Rule

    def report(self) -> RuleReport:
        return self.gate.report(self.rule.name)

    def off(self, *, await_answers: bool = True) -> RuleReport:
        self.gate.gate_process.command("off", rule=self.rule.name)
        if await_answers:
            wait.elapsed_ms_until(self._complete, timeout_seconds=LAST_RESPONSES_SECONDS)
        return self.report()

    def _complete(self) -> bool:
        report = self.report()
        return report.holding == 0 and report.unanswered == 0


@dataclass(slots=True, kw_only=True)
class Gate:
    """Fills :class:`harness.faults.frame_gate.FrameGate`: the gate's process, and the proxies that lead to it.

    :param server_names: By proxy, the name that the certificate of its broker is for; else its upstream's host.
    """

    links: Links
    gate_process: GateProcess
    server_names: Mapping[str, str] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _listening: dict[str, Address] = field(default_factory=dict)
    _before: dict[tuple[str, Address], Address] = field(default_factory=dict)
    _rules: int = 0

    @property
    def process(self) -> "subprocess.Popen[bytes]":
        return self.gate_process.process

    def intercept(self, *proxies: str) -> None:
        with self._lock:
            for proxy in proxies:
                self._intercept(proxy)

    def _intercept(self, proxy: str) -> None:
        upstream = self.links.upstream(proxy)
        if upstream == self._listening.get(proxy):
            return
        if proxy not in self._listening:
            self._listening[proxy] = self._listen(proxy, upstream)
        self.links.redirect(proxy, self._listening[proxy])

    def stand_before(self, name: str, address: Address) -> Address:
        if (name, address) not in self._before:
            self._before[name, address] = self.gate_process.listen(name, LOCAL, address)
        return self._before[name, address]

    def add_rule(self, rule: Rule) -> GateRuleHandle:
        with self._lock:
            self._rules += 1
            numbered = replace(rule, name=f"{rule.name}-{self._rules}")
        self.gate_process.command("add", rule=to_plain(numbered))
        return GateRuleHandle(gate=self, rule=numbered)

    def report(self, name: str) -> RuleReport:
        return from_plain(RuleReport, self.gate_process.command("report", rule=name))

    def watch(self, prefix: str) -> None:
        self.gate_process.command("watch", client_ids=[prefix])

    def frames(self, prefix: str) -> tuple[Frame, ...]:
        logged = self.gate_process.command("frames", client_ids=[prefix])
        return tuple(from_plain(Frame, one) for one in logged) if isinstance(logged, list) else ()

    def unwatch(self, prefix: str) -> None:
        self.gate_process.command("unwatch", client_ids=[prefix])

    def errors(self) -> tuple[str, ...]:
        try:
            return self.gate_process.texts("errors")
        except GateFailed as ended:
            return (str(ended),)

    def notes(self) -> tuple[str, ...]:
        try:
            return self.gate_process.texts("notes")
        except GateFailed:
            return ()

    def close(self) -> None:
        for proxy in list(self._listening):
            del self._listening[proxy]
            with suppress(OSError, LookupError):
                self.links.restore(proxy)
        self.gate_process.close()

    def _listen(self, proxy: str, upstream: Address) -> Address:
        return self.gate_process.listen(
            proxy, self.links.host_for_proxies, upstream, self.server_names.get(proxy, upstream.host)
        )


def open_gate(links: Links) -> Gate:
    """Start the gate's process; no proxy leads to it yet."""
    return Gate(links=links, gate_process=start_gate_process())


def open_lane_gate(cluster: Cluster) -> Gate:
    """The gate for a cluster that is not ours; it goes behind every lane's proxies before anyone connects.

    Clients speak plaintext to it, as to a listener of a lane, and it speaks to brokers as their owner asks; a client
    that follows brokers' Metadata stays on its lane.

    :raises GateFailed: When it cannot.
    """
    assert cluster.links is not None, "a lane has a proxy"
    topology = cluster.topology
    proxies = {proxy: node for (_, node), proxy in topology.lane_proxies.items()}
    names = {proxy: name for proxy, node in proxies.items() if (name := topology.server_names.get(node))}
    gate = Gate(links=cluster.links, gate_process=start_gate_process(), server_names=names)
    try:
        gate.gate_process.secure(topology.security)
        for lane in dict.fromkeys(lane for lane, _ in topology.lane_proxies):
            own = [proxy for (of, _), proxy in topology.lane_proxies.items() if of == lane]
            hosts = [address.host for address in topology.advertised.values()]
            gate.gate_process.keep_on_lane(own, topology.lanes[lane], hosts)
    except BaseException:
        gate.close()
        raise
    return gate
