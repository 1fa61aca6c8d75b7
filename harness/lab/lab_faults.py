"""What a stimulus may do to the proxies of a cluster, and for a negative control to its code."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Unpack

from harness.base.clock import RunClock
from harness.base.unprepared import OutOfReach, Unprepared
from harness.cluster.cluster import BreakCode, Cluster, Direction, Links
from harness.contract import Access
from harness.lab.evidence_builder import EvidenceBuilder
from harness.lab.link_faults import Hold, cutting, holding
from harness.lab.powers.request_gate import GateAction, Gated, GateWish, OpenGate, RequestGate


@dataclass(slots=True, kw_only=True)
class LabFaults:
    """The part of a lab that holds, cuts, and acts on single requests.

    :param open_gate: The run's gate for single requests; None where there can be none.
    :param accessed: What the stimulus has used beyond its own topics and ids.
    :param spent: Whether the cluster is no more what it was started as, so that nobody may use it after this.
    """

    cluster: Cluster
    clock: RunClock
    notes: EvidenceBuilder = field(default_factory=EvidenceBuilder)
    accessed: set[Access] = field(default_factory=set)
    open_gate: OpenGate | None = None
    request_gate: RequestGate = field(init=False)
    spent: bool = False

    def now(self) -> float:
        return self.clock.now()

    @property
    def links(self) -> Links:
        """The cluster's proxies; :raises OutOfReach: when there are none."""
        if self.cluster.links is None:
            raise OutOfReach("no proxies stand before this cluster, so nothing can be held")
        return self.cluster.links

    def link(self, source: int, target: int) -> str:
        """The proxy that carries what broker ``source`` asks of ``target``; :raises OutOfReach: when there is none."""
        self.accessed.add(Access.LINKS)
        if source == target:
            raise OutOfReach(f"coordinator and leader are broker {source} alone, and no link lies between them")
        if proxy := self.cluster.topology.links.get((source, target)):
            return proxy
        raise OutOfReach("no proxies stand between these brokers, so no link between them can be held")

    def hold(self, proxy: str, *, name: str, direction: Direction = "upstream") -> AbstractContextManager[Hold]:
        """Hold what is sent through ``proxy`` (a link or a lane) for the block, or until ``release`` within it.

        :param direction: ``downstream`` holds the answers instead.
        :raises Unprepared: When there is no proxy.
        """
        self._note_access(proxy)
        return holding(self.links, proxy, name=name, direction=direction, now=self.now, faults=self.notes.faults)

    def cut(self, proxy: str, *, name: str) -> AbstractContextManager[None]:
        """Cut ``proxy`` (a link or a lane) for the block; :raises Unprepared: when there is no proxy."""
        self._note_access(proxy)
        return cutting(self.links, proxy, name=name, now=self.now, faults=self.notes.faults)

    def gate(
        self, proxy: str, *, api: str, action: GateAction, name: str, **wish: Unpack[GateWish]
    ) -> AbstractContextManager[Gated]:
        """Act on single requests of an API that pass ``proxy`` (a link or a lane), for the block or until ``release``.

        * ``hold`` and ``hold-response``: the request, or its answer, waits; what follows on the connection waits too.
        * ``drop-request`` and ``drop-response``: the sender gets no answer; with ``hang_up`` its connection ends.
        * ``repeat``: it is sent twice, and one answer comes back.
        * ``rewrite``: the answer has another ``error``, other ``fields``, or numbers changed by ``shift``.
        * ``refuse``: the gate answers with ``error`` in the broker's place, and the broker never sees the request.

        Its open connections end when a proxy is first led through the gate; a client's own requests must not be under
        way then. ``wait`` on what is given waits until the gate has struck; a check demands it by ``expect.gated``.

        :param wish: See :class:`harness.lab.powers.request_gate.GateWish`.
        :raises OutOfReach: When what passes there is encrypted.
        :raises Unprepared: When the gate cannot be put there.
        """
        self._note_access(proxy)
        self._demand_readable(proxy)
        return self.request_gate.on(proxy, api=api, action=action, name=name, faults=self.notes.faults, wish=wish)

    def leave_the_gate(self) -> None:
        """Lead every proxy to where it led at first."""
        while self.request_gate.led:
            self.links.restore(self.request_gate.led.pop())

    def _demand_readable(self, proxy: str) -> None:
        """Clients speak TLS with the brokers themselves, through the proxies: nobody between them sees a request."""
        topology = self.cluster.topology
        lanes = [lane for (lane, _), name in topology.lane_proxies.items() if name == proxy]
        if any(topology.secured(lane).tls is not None for lane in lanes):
            raise OutOfReach("what clients send to this cluster is encrypted, so no single request of theirs is seen")

    def _note_access(self, proxy: str) -> None:
        self.accessed.add(Access.LINKS if proxy in self.cluster.topology.links.values() else Access.LANES)

    @contextmanager
    def broken(self, rules: str) -> Iterator[None]:
        """Byteman rules in every node for the length of the block; only for negative controls."""
        if not isinstance(self.cluster, BreakCode):
            raise Unprepared("this cluster cannot load failpoints")
        self.cluster.load_rules(rules)
        try:
            yield
        finally:
            self.cluster.unload_rules()
