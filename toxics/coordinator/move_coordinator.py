"""Move coordinator: the partition of ``__transaction_state`` that keeps a transactional id is led by another broker.

The new coordinator loads the log and goes on with what it finds; afterwards the first one does the same. Needs nothing
but Kafka's own administration. Proof that it struck: leaders that brokers' metadata saw move.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from random import Random

from harness.chaos.drawn import number, word
from harness.chaos.leadership import RANKS, led_elsewhere
from harness.chaos.site import Site
from harness.chaos.toxic import Power, Proof, Shape
from harness.history.evidence import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedCoordinator:
    """Fills :class:`harness.chaos.toxic.Toxic`."""

    name: str = "move-coordinator"
    power: Power = Power.LEADERSHIP
    takes_a_broker: bool = False

    def draw(self, shape: Shape, draw: Random) -> Mapping[str, Json]:
        """``transactional_id`` (in the workload's word), ``rank`` among the replicas that could coordinate it."""
        return {"transactional_id": draw.choice(shape.transactional_ids), "rank": draw.randrange(RANKS)}

    def strike(self, site: Site, chosen: Mapping[str, Json]) -> AbstractContextManager[Proof]:
        """Coordinated elsewhere for the block.

        :raises Unprepared, NotInTime: See :func:`harness.chaos.leadership.led_elsewhere`.
        """
        return _struck(site, word(chosen, "transactional_id"), number(chosen, "rank"))


@contextmanager
def _struck(site: Site, transactional_id: str, rank: int) -> Iterator[Proof]:
    with led_elsewhere(site, *site.home(transactional_id), rank) as proof:
        proof.where += f", which keeps {transactional_id}"
        yield proof


TOXIC = MovedCoordinator()
