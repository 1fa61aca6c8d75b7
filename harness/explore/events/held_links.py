"""Requests between brokers held on their links, by the gate."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from harness.base import wait
from harness.cluster.cluster import Links
from harness.faults.frame_gate import FrameGate, GateOpener, RuleHandle
from harness.faults.frame_rule import Action, Rule, Then, When

RECONNECT_SECONDS = 0.15
"""After a lost connection a broker fails requests to the other for 50 ms at once (``InterBrokerSendThread``)."""
HELD_SECONDS = 10.0
"""Within which what brokers send must have come to the gate."""
AT_MOST_MS = 20_000
"""Below ``request.timeout.ms``: a coordinator that has waited so long sends its markers again."""


STRUCK = frozenset({"held", "answer-held", "dropped", "answered"})
"""Fates of what waits, or was lost; a request whose response is dropped was answered."""


@dataclass(slots=True, kw_only=True)
class HeldLinks:
    """The links of a cluster of ours, led through the gate from the first hold on.

    :param between: The proxy of each link, by the brokers at its ends.
    """

    links: Links
    between: Mapping[tuple[int, int], str]
    open_gate: GateOpener
    _gate: FrameGate | None = None

    def hold(self, api: str, action: Action) -> "HeldRequests":
        """From now on every such request, or the answer to it, waits on its link, or is lost with its connection.

        :raises GateFailed: When the gate cannot be put there.
        """
        if self._gate is None:
            self._gate = self.open_gate(self.links)
            self._gate.intercept(*self.between.values())
            wait.pause(RECONNECT_SECONDS)
        proxies, lost = tuple(self.between.values()), action.startswith("drop")
        rule = Rule(
            name=f"{action} {api}",
            proxies=proxies,
            when=When(apis=(api,)),
            then=Then(action=action, at_most_ms=AT_MOST_MS, hang_up=lost),
        )
        return HeldRequests(rule=self._gate.add_rule(rule), between=self.between, lost=lost)

    def close(self) -> None:
        """Links lead to where they led at first."""
        if self._gate is not None:
            self._gate.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRequests:
    """What a rule holds, or loses.

    :param between: The proxy of each link, by the brokers at its ends.
    """

    rule: RuleHandle
    between: Mapping[tuple[int, int], str]
    lost: bool
    since: float = field(default_factory=time.monotonic)

    @property
    def overdue(self) -> bool:
        """Whether something may have been let go unasked."""
        return not self.lost and (time.monotonic() - self.since) * 1000 >= AT_MOST_MS

    def await_held(self, ways: Collection[tuple[int, int]]) -> Collection[tuple[int, int]]:
        """Those of these links on which something waits, or was lost: once that is all of them, or the time is over."""

        def all_held() -> bool:
            struck = self._held()
            return all(self.between[way] in struck for way in ways)

        wait.elapsed_ms_until(all_held, timeout_seconds=HELD_SECONDS, interval_seconds=0.01)
        struck = self._held()
        return {way for way in ways if self.between[way] in struck}

    def ids(self) -> Collection[str]:
        """Transactional ids that what is held is about."""
        return {each for strike in self.rule.report().strikes for each in strike.transactional_ids}

    def let_go(self) -> None:
        """Deliver it all."""
        self.rule.off()

    def _held(self) -> Sequence[str]:
        strikes = self.rule.report().strikes
        return [strike.proxy for strike in strikes if strike.fate in STRUCK]
