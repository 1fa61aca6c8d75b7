"""Restart: a broker is stopped in good order, so that it hands its leaderships over, and started again.

Needs the powers to stop and to kill (which includes to start again). Proof that it struck: a broker that no longer
answered the observer.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from random import Random

from harness.base.deferred_action import deferred
from harness.base.json_value import Json
from harness.faults.broker_restart import Restartable, restartable, stop
from harness.faults.fault_target import FaultTarget
from harness.faults.leadership import await_recovery
from harness.faults.toxic import ClusterShape, Power, StrikeCount
from harness.faults.typed_draws import number

DOWN_MS = (0, 1_500)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarted:
    """Fills :class:`harness.faults.toxic.Toxic`."""

    name: str = "restart"
    power: Power = Power.PROCESS
    disrupts_broker: bool = True

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``broker``, and ``down_ms`` before it is started again."""
        return {"broker": draw.choice(shape.brokers), "down_ms": draw.randint(*DOWN_MS)}

    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> AbstractContextManager[StrikeCount]:
        """Stopped on entering; back when the block is left.

        :raises Powerless: When the target's brokers are not ours to stop.
        :raises Trouble: When the broker does not start again.
        :raises NotInTime: When it is not registered again within the bound.
        """
        return _struck(
            fault_target, restartable(fault_target), number(chosen, "broker"), number(chosen, "down_ms") / 1000
        )


@contextmanager
def _struck(fault_target: FaultTarget, cluster: Restartable, broker: int, down: float) -> Iterator[StrikeCount]:
    strikes = StrikeCount(
        where=f"broker-{broker}", how="brokers that no longer answered, started again with their data"
    )
    strikes.how += f"; {stop(cluster, broker)}"
    with deferred(down, partial(cluster.restart, broker)):
        strikes.struck += not fault_target.answers(broker)
        yield strikes
    await_recovery(fault_target, broker, strikes)


TOXIC = Restarted()
