"""A toxic that changes what one broker does, by Byteman rules that are loaded into its JVM and taken out again.

A JVM of ours runs on any machine without root's rights, and so do the rules: an ``LD_PRELOAD`` library would have to be
built for each platform, and a slow device or another clock takes privileges. They act on Kafka's own classes alone,
which is where Kafka writes, forces and reads the time.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from harness.base.json_value import Json
from harness.cluster.cluster import BreakNode
from harness.faults.fault_target import FaultTarget, Powerless
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach
from harness.faults.typed_draws import number


def alters_clock(toxic: object) -> bool:
    """Whether times that a broker writes are off while the toxic is on."""
    return isinstance(toxic, NodeRules) and toxic.clock_off_ms is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRules:
    """Fills :class:`harness.faults.toxic.Toxic`, and ``MinimumDuration``: loading an agent takes a second.

    :param draw_values: What is drawn beside ``broker``. :param rules: The rules for it.
    :param how: What the rules do, in words, of which the strike counts how many were come to.
    :param clock_off_ms: By how much the broker's clock is ahead; None where it is left alone.
    """

    name: str
    draw_values: Callable[[Random], Mapping[str, Json]]
    rules: Callable[[Mapping[str, Json]], str]
    how: str
    clock_off_ms: Callable[[Mapping[str, Json]], int] | None = None
    power: Power = Power.PROCESS
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.CODE,)
    disrupts_broker: bool = False
    seconds: float = 5.0

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``broker``, and what the rules take."""
        return {"broker": draw.choice(shape.brokers), **self.draw_values(draw)}

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """On for the block.

        :raises Powerless: When no rule can be loaded into one of the target's brokers.
        :raises RuntimeError: With Byteman's message, when a rule does not apply to this release.
        """
        broker, cluster = number(chosen, "broker"), fault_target.cluster
        if not isinstance(cluster, BreakNode):
            raise Powerless(f"the {cluster.backend} backend loads no rules into a broker")
        off_ms = None if self.clock_off_ms is None else self.clock_off_ms(chosen)
        strikes = StrikeCount(where=f"broker-{broker}", how=self.how, clock_off_ms=off_ms)
        rules, entered = self.rules(chosen), frozenset[str]()
        cluster.load_rules_into(broker, rules)
        try:
            yield strikes
        finally:
            entered = cluster.unload_rules_from(broker, rules)
        strikes.struck = len(entered)
        strikes.how += f": {', '.join(sorted(entered)) or 'none'}"
