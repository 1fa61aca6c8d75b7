"""A rule at work: which requests it takes, what they wait for, and its account."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

from harness.faults.gate.lie import Lie, load
from harness.faults.gate.request_info import LatestEpochs, RequestInfo
from harness.faults.gate.rule import LISTED, Account, Rule, Strike


@dataclass(slots=True, kw_only=True)
class StrikeLog:
    """One request in a rule's hands; ``release`` is there while it waits, and forwards it."""

    engaged: "ActiveRule"
    facts: RequestInfo
    proxy: str
    place: int
    release: Callable[[], None] | None = None
    owed: bool = False

    def note(self, fate: str, *, error: int | None = None) -> None:
        """Write down what became of it."""
        strikes = self.engaged.strikes
        if fate in ("delivered", "answered", "dropped", "lost"):
            self.release = None
        self.owed = fate == "delivered"
        if self.place < len(strikes):
            delivered = time.monotonic_ns() if fate == "delivered" else strikes[self.place].delivered_ns
            strikes[self.place] = replace(strikes[self.place], fate=fate, delivered_ns=delivered, error=error)
        if not self.owed and self.release is None:
            self.engaged.inside.pop(id(self), None)


@dataclass(slots=True, kw_only=True)
class ActiveRule:
    """A rule with its counters. ``inside`` are requests that wait or whose answers are owed."""

    rule: Rule
    on: bool = True
    seen: int = 0
    fitting: int = 0
    struck: int = 0
    unreadable: int = 0
    strikes: list[Strike] = field(default_factory=list)
    inside: dict[int, StrikeLog] = field(default_factory=dict)
    lie: Lie | None = None
    _draw: Random = field(init=False)

    def __post_init__(self) -> None:
        """The rule's own draws, and its own lie; :raises ImportError, AttributeError: when there is no such lie."""
        self._draw = Random(self.rule.when.seed)
        self.lie = load(self.rule.then.lie) if self.rule.then.action == "lie" else None

    def takes(self, facts: RequestInfo, newest: LatestEpochs) -> bool:
        """Whether this request is the rule's; counts it as seen."""
        when = self.rule.when
        self.seen += 1
        self.unreadable += not facts.readable
        if not facts.readable or not self._fits(facts, newest):
            return False
        self.fitting += 1
        drawn = self._draw.random()  # one for each that fits, so that ``every`` does not shift the draws
        spent = when.at_most is not None and self.struck >= when.at_most
        return not spent and self.fitting % when.every == 0 and drawn < when.probability

    def strike(self, facts: RequestInfo, proxy: str, fate: str) -> StrikeLog:
        """Take it."""
        struck = StrikeLog(engaged=self, facts=facts, proxy=proxy, place=self.struck)
        self.struck += 1
        if len(self.strikes) < LISTED:
            self.strikes.append(_listed(facts, proxy, fate))
        self.inside[id(struck)] = struck
        return struck

    def release(self) -> None:
        """Forward everything that waits, in the order in which it came."""
        for struck in list(self.inside.values()):
            if struck.release is not None:
                struck.release()

    def account(self) -> Account:
        """What the rule has done so far."""
        inside = list(self.inside.values())
        return Account(
            rule=self.rule.name,
            seen=self.seen,
            struck=self.struck,
            holding=sum(struck.release is not None for struck in inside),
            owing=sum(struck.owed for struck in inside),
            unreadable=self.unreadable,
            strikes=tuple(self.strikes),
        )

    def _fits(self, facts: RequestInfo, newest: LatestEpochs) -> bool:
        when = self.rule.when
        return (
            (not when.versions or when.versions[0] <= facts.head.version <= when.versions[-1])
            and _one_of(when.client_ids, (facts.head.client_id,))
            and _begun_with(when.transactional_ids, facts.transactional_ids)
            and _one_of(when.partitions, facts.partitions)
            and (when.producer_id is None or when.producer_id in [who for who, _ in facts.identities])
            and when.commits in (None, facts.commits)
            and when.verifies in (None, facts.verifies)
            and when.transactional in (None, bool(facts.transactional_ids))
            and (when.epochs == "any" or when.epochs == newest.standing(facts))
        )


def _one_of(wanted: tuple[str, ...], found: tuple[str, ...]) -> bool:
    return not wanted or any(name in wanted for name in found)


def _begun_with(wanted: tuple[str, ...], found: tuple[str, ...]) -> bool:
    beginnings = tuple(name.removesuffix("*") for name in wanted if name.endswith("*"))
    return _one_of(wanted, found) or any(name.startswith(beginnings) for name in found)


def _listed(facts: RequestInfo, proxy: str, fate: str) -> Strike:
    producer_id, epoch = facts.identities[0] if facts.identities else (None, None)
    return Strike(
        proxy=proxy,
        api=facts.head.api,
        version=facts.head.version,
        client_id=facts.head.client_id,
        fate=fate,
        at_ns=time.monotonic_ns(),
        transactional_ids=facts.transactional_ids,
        producer_id=producer_id,
        epoch=epoch,
        partitions=facts.partitions,
        commits=facts.commits,
    )
