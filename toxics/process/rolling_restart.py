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

from harness import wait
from harness.chaos.drawn import numbers
from harness.chaos.later import later
from harness.chaos.leadership import taken_back
from harness.chaos.restarting import Restartable, restartable, stop
from harness.chaos.site import Site
from harness.chaos.toxic import Power, Proof, Shape
from harness.history.evidence import Json

CAUGHT_UP = 30.0
"""Seconds within which every replica must be in sync again before the next broker is stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rolling:
    """Fills :class:`harness.chaos.toxic.Toxic`, and ``Lengthy``, so that all brokers can have their turn."""

    name: str = "rolling-restart"
    power: Power = Power.PROCESS
    takes_a_broker: bool = True
    seconds: float = 18.0

    def draw(self, shape: Shape, draw: Random) -> Mapping[str, Json]:
        """``brokers`` in the order in which they are restarted."""
        return {"brokers": [*draw.sample(shape.brokers, len(shape.brokers))]}

    def strike(self, site: Site, chosen: Mapping[str, Json]) -> AbstractContextManager[Proof]:
        """Rolls while the block lasts; the broker that is away is back when it is left.

        :raises Powerless: When the target's brokers are not ours to stop.
        :raises Trouble: When a broker does not start again.
        :raises NotInTime: When one is not registered again, or its replicas do not catch up, within the bound.
        """
        return _struck(site, restartable(site), numbers(chosen, "brokers"))


@contextmanager
def _struck(site: Site, cluster: Restartable, order: Sequence[int]) -> Iterator[Proof]:
    proof = Proof(where=", ".join(f"broker-{broker}" for broker in order), how="brokers restarted, one after the other")
    enough = Event()

    def roll() -> None:
        for broker in order:
            if enough.is_set():
                break
            stop(cluster, broker)
            away = not site.answers(broker)
            cluster.restart(broker)
            site.rejoined(broker)
            proof.struck += away
            wait.until(lambda: enough.is_set() or site.replicated(), what="full ISR", within=CAUGHT_UP, every=0.05)
        taken_back(site, order[-1], proof)

    with later(0, roll):
        try:
            yield proof
        finally:
            enough.set()


TOXIC = Rolling()
