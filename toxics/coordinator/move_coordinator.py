"""Move coordinator: the partition of ``__transaction_state`` that keeps a transactional id is led by another broker.

The new coordinator loads the log and goes on from it; afterwards the first one does the same. Needs only Kafka's own
administration. Counts leaders that moved, by brokers' metadata.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from harness.base.json_value import Json
from harness.faults.brokers.leadership import RANKS, leader_moved
from harness.faults.fault_target import FaultTarget
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach
from harness.faults.typed_draws import number, text


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorMove:
    """Fills :class:`harness.faults.toxic.Toxic`."""

    name: str = "move-coordinator"
    power: Power = Power.LEADERSHIP
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.LEADERS,)
    disrupts_broker: bool = False

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``transactional_id`` (by the workload's name), ``rank`` among the replicas that could coordinate it."""
        return {"transactional_id": draw.choice(shape.transactional_ids), "rank": draw.randrange(RANKS)}

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """Coordinated elsewhere for the block.

        :raises Unprepared, NotInTime: See :func:`harness.faults.brokers.leadership.leader_moved`.
        """
        transactional_id, rank = text(chosen, "transactional_id"), number(chosen, "rank")
        with leader_moved(fault_target, *fault_target.state_partition(transactional_id), rank) as strikes:
            strikes.where += f", which keeps {transactional_id}"
            yield strikes


TOXIC = CoordinatorMove()
