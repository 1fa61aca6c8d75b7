"""Rolling restart: every broker in turn is stopped in good order and started again, once the one before has caught up.

As an upgrade does it. It takes longer than a storm and says so; when it is left before its end, the broker that is
away comes back and the others are left alone. Needs the powers to stop and to kill (which includes to start again).
Proof that it struck: brokers that no longer answered and came back.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from random import Random
from threading import Event

from harness.base import wait
from harness.base.deferred_action import deferred
from harness.base.json_value import Json
from harness.faults.broker_restart import Restartable, restartable, stop
from harness.faults.fault_target import FaultTarget
from harness.faults.leadership import await_recovery
from harness.faults.toxic import ClusterShape, Power, StrikeCount
from harness.faults.typed_draws import numbers

CAUGHT_UP = 30.0
"""Seconds within which every replica must be in sync again before the next broker is stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rolling:
    """Fills :class:`harness.faults.toxic.Toxic`, and ``Lengthy``, so that all brokers can have their turn."""

    name: str = "rolling-restart"
    power: Power = Power.PROCESS
    disrupts_broker: bool = True
    seconds: float = 18.0

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``brokers`` in the order in which they are restarted."""
        return {"brokers": [*draw.sample(shape.brokers, len(shape.brokers))]}

    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> AbstractContextManager[StrikeCount]:
        """Rolls while the block lasts; the broker that is away is back when it is left.

        :raises Powerless: When the target's brokers are not ours to stop.
        :raises Trouble: When a broker does not start again.
        :raises NotInTime: When one is not registered again, or its replicas do not catch up, within the bound.
        """
        return _struck(fault_target, restartable(fault_target), numbers(chosen, "brokers"))


@contextmanager
def _struck(fault_target: FaultTarget, cluster: Restartable, order: Sequence[int]) -> Iterator[StrikeCount]:
    strikes = StrikeCount(
        where=", ".join(f"broker-{broker}" for broker in order), how="brokers restarted, one after the other"
    )
    enough = Event()

    def roll() -> None:
        for broker in order:
            if enough.is_set():
                break
            stop(cluster, broker)
            away = not fault_target.answers(broker)
            cluster.restart(broker)
            fault_target.rejoined(broker)
            strikes.struck += away
            wait.until(
                lambda: enough.is_set() or fault_target.replicated(), what="full ISR", within=CAUGHT_UP, every=0.05
            )
        await_recovery(fault_target, order[-1], strikes)

    with deferred(0, roll):
        try:
            yield strikes
        finally:
            enough.set()


TOXIC = Rolling()
