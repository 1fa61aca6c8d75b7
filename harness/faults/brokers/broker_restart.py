"""A toxic that takes a broker down and starts it again with the same data: killed, or stopped in good order."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from random import Random

from harness.base import wait
from harness.base.deferred_action import deferred
from harness.base.json_value import Json
from harness.cluster.cluster import FillDisk, Kill, Stop
from harness.faults.brokers.leadership import await_recovery
from harness.faults.fault_target import FaultTarget, Powerless
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach
from harness.faults.typed_draws import number

ENDED_SECONDS = 15.0
"""Within which a broker that cannot write must have ended: there are always records and metadata to be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerRestart:
    """Fills :class:`harness.faults.toxic.Toxic`.

    :param down_ms: Shortest and longest time before the broker is started again.
    :param take_down: Ends a broker; gives a few words for the report, or none.
    :param gradual: Whether a broker goes on for a while when it is told to end; the moment is when it is told.
    """

    name: str
    down_ms: tuple[int, int]
    take_down: Callable[[FaultTarget, int], str]
    gradual: bool = False
    power: Power = Power.PROCESS
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.PROCESSES,)
    disrupts_broker: bool = True

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``broker``, and ``down_ms`` before it is started again."""
        return {"broker": draw.choice(shape.brokers), "down_ms": draw.randint(*self.down_ms)}

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """Taken down on entering; back when the block is left.

        :raises Powerless: When the target's brokers are not ours to take down.
        :raises UserError: When the broker does not start again.
        :raises TimedOut: When it is not registered again within the bound.
        """
        broker, down_seconds = number(chosen, "broker"), number(chosen, "down_ms") / 1000
        cluster = can_kill(fault_target)
        since = fault_target.clock.now()
        ended = self.take_down(fault_target, broker)
        how = "brokers that no longer answered, started again with their data"
        strikes = StrikeCount(
            where=f"broker-{broker}",
            how="; ".join(filter(None, (how, ended))),
            moment=(since, since if self.gradual else fault_target.clock.now()),
        )
        with deferred(down_seconds, partial(cluster.restart, broker)):
            strikes.struck += not fault_target.answers(broker)
            yield strikes
        await_recovery(fault_target, broker, strikes)


def can_kill(fault_target: FaultTarget) -> Kill:
    """The target's cluster; :raises Powerless: when its brokers are not ours to kill and start again."""
    if not isinstance(fault_target.cluster, Kill):
        raise Powerless(f"the {fault_target.cluster.backend} backend cannot kill a broker")
    return fault_target.cluster


def can_stop(fault_target: FaultTarget) -> Stop:
    """The target's cluster; :raises Powerless: when its brokers are not ours to stop in good order."""
    if not isinstance(fault_target.cluster, Stop):
        raise Powerless(f"the {fault_target.cluster.backend} backend cannot stop a broker")
    return fault_target.cluster


def kill(fault_target: FaultTarget, broker: int) -> str:
    """End a broker as ``kill -9`` does."""
    can_kill(fault_target).kill(broker)
    return ""


def stop(fault_target: FaultTarget, broker: int) -> str:
    """Stop a broker in good order, or kill it when it does not end; the return value is which, in words.

    :raises Powerless: When the target's brokers are not ours to stop.
    """
    try:
        can_stop(fault_target).stop(broker)
    except wait.TimedOut as late:
        can_kill(fault_target).kill(broker)
        return f"killed, because {late}"
    return "stopped in good order"


def fill_disk(fault_target: FaultTarget, broker: int) -> str:
    """Let every write of a broker to a file fail, and wait until it has ended by itself.

    :raises Powerless: When its writes cannot be let fail.
    :raises TimedOut: When it goes on all the same; it is started again before.
    """
    cluster = fault_target.cluster
    if not isinstance(cluster, FillDisk):
        raise Powerless(f"the {cluster.backend} backend cannot let a broker's writes fail")
    cluster.fill_disk(broker)
    try:
        wait.until(lambda: cluster.ended(broker), what=f"the end of broker {broker}", timeout_seconds=ENDED_SECONDS)
    except wait.TimedOut:
        kill(fault_target, broker)
        can_kill(fault_target).restart(broker)
        raise
    return "ended when a write had failed"
