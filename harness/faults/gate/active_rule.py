"""A rule that is in force: which requests it takes, those that wait or are unanswered, and its counters."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

from harness.faults.frame_rule import LISTED, Rule, RuleReport, Strike
from harness.faults.gate.latest_steps import LatestSteps
from harness.faults.gate.lie import Lie, load
from harness.faults.gate.request_info import LatestEpochs, RequestInfo


@dataclass(slots=True, kw_only=True)
class StruckRequest:
    """One request that a rule took.

    :param index: Its place among the rule's strikes.
    :param release: There while it waits; forwards it.
    :param unanswered: Whether it was forwarded and its response is still to come.
    """

    active_rule: "ActiveRule"
    info: RequestInfo
    index: int
    release: Callable[[], None] | None = None
    unanswered: bool = False

    def note(self, fate: str, *, error: int | None = None) -> None:
        """Write down what became of it."""
        strikes = self.active_rule.strikes
        if fate in ("delivered", "answered", "dropped", "lost"):
            self.release = None
        self.unanswered = fate == "delivered"
        if self.index < len(strikes):
            before, now = strikes[self.index], time.monotonic_ns()
            delivered = now if fate == "delivered" else before.delivered_ns
            came = before.answered_ns is None and fate in ("answer-held", "answered", "rewritten")
            answered = now if came else before.answered_ns
            strikes[self.index] = replace(before, fate=fate, delivered_ns=delivered, answered_ns=answered, error=error)
        if not self.unanswered and self.release is None:
            self.active_rule.pending.pop(id(self), None)


@dataclass(slots=True, kw_only=True)
class ActiveRule:
    """A rule with its counters. ``pending`` are requests that wait or are unanswered."""

    rule: Rule
    on: bool = True
    seen: int = 0
    fitting: int = 0
    struck: int = 0
    unreadable: int = 0
    strikes: list[Strike] = field(default_factory=list)
    pending: dict[int, StruckRequest] = field(default_factory=dict)
    lie: Lie | None = None
    _draw: Random = field(init=False)
    _only_id: str = ""

    def __post_init__(self) -> None:
        """The rule's own draws, and its own lie; :raises ImportError, AttributeError: when there is no such lie."""
        self._draw = Random(self.rule.when.seed)
        self.lie = load(self.rule.then.lie, self.rule.then.with_) if self.rule.then.action == "lie" else None

    def matches(self, info: RequestInfo, latest: LatestEpochs, steps: LatestSteps) -> bool:
        """Whether the rule takes this request; counts it as seen."""
        when = self.rule.when
        self.seen += 1
        self.unreadable += not info.readable
        if self._only_id:
            return self._only_id in info.transactional_ids
        if not info.readable or not self._fits(info, latest, steps):
            return False
        self.fitting += 1
        drawn = self._draw.random()  # one for each that fits, so that ``every`` does not shift the draws
        late = self.fitting - when.skip
        return late > 0 and not self.spent and late % when.every == 0 and drawn < when.probability

    @property
    def spent(self) -> bool:
        """Whether it has struck as often as it may."""
        at_most = self.rule.when.at_most
        return at_most is not None and self.struck >= at_most

    def strike(self, info: RequestInfo, proxy: str, fate: str) -> StruckRequest:
        """Take the request."""
        struck = StruckRequest(active_rule=self, info=info, index=self.struck)
        self.struck += 1
        if self.rule.when.one_id and info.transactional_ids and not self._only_id:
            self._only_id = info.transactional_ids[0]
        if len(self.strikes) < LISTED:
            self.strikes.append(_listed(info, proxy, fate))
        self.pending[id(struck)] = struck
        return struck

    def release(self) -> None:
        """Forward everything that waits, in the order in which it came."""
        for struck in list(self.pending.values()):
            if struck.release is not None:
                struck.release()

    def report(self) -> RuleReport:
        """What the rule has done so far."""
        pending = list(self.pending.values())
        return RuleReport(
            rule=self.rule.name,
            seen=self.seen,
            struck=self.struck,
            holding=sum(struck.release is not None for struck in pending),
            unanswered=sum(struck.unanswered for struck in pending),
            unreadable=self.unreadable,
            strikes=tuple(self.strikes),
        )

    def _fits(self, info: RequestInfo, latest: LatestEpochs, steps: LatestSteps) -> bool:
        when = self.rule.when
        return (
            (not when.versions or when.versions[0] <= info.header.version <= when.versions[-1])
            and _matches_any(when.transactional_ids, info.transactional_ids)
            and _matches_any(when.client_ids, (info.header.client_id,))
            and when.transactional in (None, bool(info.transactional_ids))
            and when.adds in (None, info.adds)
            and when.commits in (None, info.commits)
            and (when.epochs == "any" or when.epochs == latest.compare(info))
            and steps.fits(info, when.after)
        )


def _matches_any(wanted: tuple[str, ...], found: tuple[str, ...]) -> bool:
    prefixes = tuple(name.removesuffix("*") for name in wanted if name.endswith("*"))
    return not wanted or any(name in wanted or name.startswith(prefixes) for name in found)


def _listed(info: RequestInfo, proxy: str, fate: str) -> Strike:
    producer_id, epoch = info.identities[0] if info.identities else (None, None)
    return Strike(
        proxy=proxy,
        api=info.header.api,
        version=info.header.version,
        fate=fate,
        at_ns=time.monotonic_ns(),
        transactional_ids=info.transactional_ids,
        producer_id=producer_id,
        epoch=epoch,
        partitions=info.partitions,
    )
