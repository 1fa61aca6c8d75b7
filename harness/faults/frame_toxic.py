"""A toxic that is one rule of the gate, on all lanes of clients or on all links between brokers.

A rule that waits for an event must see both requests, and they travel to different brokers; so the gate is put into
the path of all lanes (or links) at once. It stays there when the rule is off, where it only forwards: connections end
once a run, not at every strike.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Literal

from harness.base.json_value import Json
from harness.faults.fault_target import FaultTarget, Powerless
from harness.faults.frame_gate import GateFailed, RuleHandle
from harness.faults.frame_rule import Rule, Then, When
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach
from harness.faults.typed_draws import number, text

EVERY_ID = "every transactional id"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameToxic:
    """Fills :class:`harness.faults.toxic.Toxic`.

    :param on: Requests of clients (``lanes``), or of brokers to each other (``links``).
    :param how: What a strike is, in words.
    :param apis: Those of which it may strike requests.
    :param draw_values: The toxic's own draws; ``transactional_id`` and ``seed`` are drawn for every one.
    :param sees_lanes: Whether what it waits for passes on clients' lanes, though its own requests are on links.
    :param by_id: Whether it may be aimed at one transactional id.
    :param rule: The rule's two halves, from what was drawn.
    """

    name: str
    on: Literal["lanes", "links"]
    how: str
    apis: tuple[str, ...]
    draw_values: Callable[[Random], Mapping[str, Json]]
    rule: Callable[[Mapping[str, Json], "Aim"], tuple[When, Then]]
    power: Power = Power.FRAMES
    disrupts_broker: bool = False
    sees_lanes: bool = False
    by_id: bool = True

    @property
    def acts_on(self) -> tuple[ToxicReach, ...]:
        return (ToxicReach(self.on),)

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """One transactional id or (every other time) all, a seed for the gate's own draws, and the toxic's draws."""
        named = shape.transactional_ids if self.by_id else ()
        ids = [*named, *[EVERY_ID] * max(1, len(named))]
        return {"transactional_id": draw.choice(ids), "seed": draw.randrange(2**31), **self.draw_values(draw)}

    def aimed_at_all(self, chosen: Mapping[str, Json]) -> Mapping[str, Json]:
        """Fills :class:`harness.faults.toxic.AimedToxic`."""
        return {**chosen, "transactional_id": EVERY_ID}

    def prepare(self, fault_target: FaultTarget) -> None:
        """Put the gate into the path before anyone connects, so that the first strike ends no connection.

        :raises Powerless: As for a strike.
        """
        with _failure_is_powerless():
            fault_target.gate.intercept(*proxies_of(self.on, fault_target), *self._seen(fault_target))

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """The rule is on for the block; what it holds is delivered on leaving.

        :raises Powerless: Where there are no proxies, or they cannot reach the gate.
        """
        when, then = self.rule(chosen, _aim(fault_target, chosen))
        proxies = proxies_of(self.on, fault_target)
        where = f"{'clients' if self.on == 'lanes' else 'brokers'}: {', '.join(when.apis)}"
        strikes = StrikeCount(where=f"{where} of {chosen['transactional_id']}" if self.by_id else where, how=self.how)
        rule = Rule(name=self.name, proxies=proxies, when=when, then=then)
        handle = add_rule(fault_target, rule, seen=self._seen(fault_target))
        try:
            yield strikes
        finally:
            report = handle.off()
            strikes.struck, strikes.requests = report.struck, report.strikes
            if report.unreadable:
                strikes.how += f"; passed because they could not be decoded: {report.unreadable}"

    def _seen(self, fault_target: FaultTarget) -> tuple[str, ...]:
        return lanes_of(fault_target) if self.sees_lanes else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What every rule of a toxic has in common; goes into its ``When``."""

    transactional_ids: tuple[str, ...]
    seed: int


def add_rule(fault_target: FaultTarget, rule: Rule, seen: Sequence[str] = ()) -> RuleHandle:
    """Lead the rule's proxies through the gate and put the rule on.

    :param seen: Proxies on which what the rule waits for may pass.
    :raises Powerless: Where there are no proxies, or the gate cannot do it.
    """
    with _failure_is_powerless():
        fault_target.gate.intercept(*rule.proxies, *seen)
        return fault_target.gate.add_rule(rule)


@contextmanager
def _failure_is_powerless() -> Iterator[None]:
    try:
        yield
    except GateFailed as failed:
        raise Powerless(str(failed)) from failed


def _aim(fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Aim:
    drawn = text(chosen, "transactional_id")
    name = fault_target.transactional_ids.get(drawn, drawn)
    # Successors that take an id of their own add to the name after a full stop; to a toxic they are the same role.
    ids = () if drawn == EVERY_ID else (name, f"{name}.*")
    return Aim(transactional_ids=ids, seed=number(chosen, "seed"))


def proxies_of(on: Literal["lanes", "links"], fault_target: FaultTarget) -> tuple[str, ...]:
    """Those of all lanes or of all links; :raises Powerless: where there are none."""
    return lanes_of(fault_target) if on == "lanes" else links_of(fault_target)


def lanes_of(fault_target: FaultTarget) -> tuple[str, ...]:
    """The proxies of every lane of clients; :raises Powerless: where there are none."""
    return _some(fault_target.cluster.topology.lane_proxies.values(), "no lane goes through a proxy here")


def links_of(fault_target: FaultTarget) -> tuple[str, ...]:
    """The proxies of every link from broker to broker; :raises Powerless: where there are none."""
    brokers = fault_target.brokers
    links = fault_target.cluster.topology.links.items()
    between = [proxy for (source, target), proxy in links if source in brokers and target in brokers]
    return _some(between, "no link between brokers goes through a proxy here")


def _some(proxies: Iterable[str], why_not: str) -> tuple[str, ...]:
    found = tuple(sorted(proxies))
    if not found:
        raise Powerless(why_not)
    return found
