"""Restart: a broker is stopped in good order, so that it hands its leaderships over, and started again.

Needs the powers to stop and to kill (which includes to start again). Proof that it struck: a broker that no longer
answered the observer.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from random import Random

from harness.chaos.drawn import number
from harness.chaos.later import later
from harness.chaos.leadership import taken_back
from harness.chaos.restarting import Restartable, restartable, stop
from harness.chaos.site import Site
from harness.chaos.toxic import Power, Proof, Shape
from harness.history.evidence import Json

DOWN_MS = (0, 1_500)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarted:
    """Fills :class:`harness.chaos.toxic.Toxic`."""

    name: str = "restart"
    power: Power = Power.PROCESS
    takes_a_broker: bool = True

    def draw(self, shape: Shape, draw: Random) -> Mapping[str, Json]:
        """``broker``, and ``down_ms`` before it is started again."""
        return {"broker": draw.choice(shape.brokers), "down_ms": draw.randint(*DOWN_MS)}

    def strike(self, site: Site, chosen: Mapping[str, Json]) -> AbstractContextManager[Proof]:
        """Stopped on entering; back when the block is left.

        :raises Powerless: When the target's brokers are not ours to stop.
        :raises Trouble: When the broker does not start again.
        :raises NotInTime: When it is not registered again within the bound.
        """
        return _struck(site, restartable(site), number(chosen, "broker"), number(chosen, "down_ms") / 1000)


@contextmanager
def _struck(site: Site, cluster: Restartable, broker: int, down: float) -> Iterator[Proof]:
    proof = Proof(where=f"broker-{broker}", how="brokers that no longer answered, started again with their data")
    proof.how += f"; {stop(cluster, broker)}"
    with later(down, partial(cluster.restart, broker)):
        proof.struck += not site.answers(broker)
        yield proof
    taken_back(site, broker, proof)


TOXIC = Restarted()
