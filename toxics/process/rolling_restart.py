"""Rolling restart: every broker in turn is stopped in good order and started again, once the one before has caught up.

As an upgrade does it. It needs more time than an ordinary fault window; when it is healed before its end, the broker
that is down comes back and the others are left alone. Needs the powers to stop and to kill (which includes to start
again). Counts brokers that no longer answered and came back.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from threading import Event

from harness.base import wait
from harness.base.deferred_action import deferred
from harness.base.json_value import Json
from harness.faults.brokers.broker_restart import can_kill, can_stop, stop
from harness.faults.brokers.leadership import await_recovery
from harness.faults.fault_target import FaultTarget
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach
from harness.faults.typed_draws import numbers

CAUGHT_UP_SECONDS = 30.0
"""Seconds within which every replica must be in sync again before the next broker is stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RollingRestart:
    """Fills :class:`harness.faults.toxic.Toxic`, and ``MinimumDuration``, so that there is time for all brokers."""

    name: str = "rolling-restart"
    power: Power = Power.PROCESS
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.PROCESSES,)
    disrupts_broker: bool = True
    seconds: float = 18.0

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``brokers`` in the order in which they are restarted."""
        return {"brokers": [*draw.sample(shape.brokers, len(shape.brokers))]}

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """Restarts one after the other while the block lasts; the broker that is down is back when it is left.

        :raises Powerless: When the target's brokers are not ours to stop.
        :raises UserError: When a broker does not start again.
        :raises TimedOut: When one is not registered again, or its replicas do not catch up, within the bound.
        """
        order = numbers(chosen, "brokers")
        can_stop(fault_target)
        cluster = can_kill(fault_target)
        strikes = StrikeCount(
            where=", ".join(f"broker-{broker}" for broker in order), how="brokers restarted, one after the other"
        )
        over = Event()

        def caught_up() -> bool:
            return over.is_set() or fault_target.replicated()

        def restart_all() -> None:
            for broker in order:
                if over.is_set():
                    break
                stop(fault_target, broker)
                down = not fault_target.answers(broker)
                cluster.restart(broker)
                fault_target.await_registered(broker)
                strikes.struck += down
                wait.until(caught_up, what="full ISR", timeout_seconds=CAUGHT_UP_SECONDS, interval_seconds=0.05)
            await_recovery(fault_target, order[-1], strikes)

        with deferred(0, restart_all):
            try:
                yield strikes
            finally:
                over.set()


TOXIC = RollingRestart()
