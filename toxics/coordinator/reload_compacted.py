"""Reload compacted: a coordinator moves, and the new one loads a log of which the cleaner has removed records.

``__transaction_state`` is compacted: of each transactional id the newest record is kept, in segments that were rolled.
What a coordinator knows after loading must be what its predecessor knew. It loads from its own copy, which its own
cleaner has compacted. Needs brokers whose segments roll within seconds. Counts coordinators that moved where the new
leader's log lacked records.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from harness.base import wait
from harness.base.json_value import Json
from harness.faults.brokers.leadership import RANKS, leader_moved
from harness.faults.fault_target import FaultTarget
from harness.faults.observer.observer_lane import on_observer_lane
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach
from harness.faults.typed_draws import number, text
from harness.kafka.raw_log import compacted_away
from harness.wire.topic_partitions import TopicPartition

READ_SECONDS = 5.0
COMPACTED_SECONDS = 8.0
"""That the leader's log gets to be compacted before it moves; only what the next leader has loaded counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactedReload:
    """Fills :class:`harness.faults.toxic.Toxic`."""

    name: str = "reload-compacted"
    power: Power = Power.LEADERSHIP
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.SETTINGS,)
    disrupts_broker: bool = False

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``transactional_id`` (by the workload's name), ``rank`` among the replicas that could coordinate it."""
        return {"transactional_id": draw.choice(shape.transactional_ids), "rank": draw.randrange(RANKS)}

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """Coordinated elsewhere for the block.

        :raises Unprepared, TimedOut: See :func:`harness.faults.brokers.leadership.leader_moved`.
        :raises Unreachable: When the log cannot be read.
        """
        transactional_id, rank = text(chosen, "transactional_id"), number(chosen, "rank")
        place = fault_target.state_partition(transactional_id)
        wait.elapsed_ms_until(
            lambda: _compacted(fault_target, place)[0] > 0, timeout_seconds=COMPACTED_SECONDS, interval_seconds=0.5
        )
        with leader_moved(fault_target, *place, rank) as strikes:
            lacking, of = _compacted(fault_target, place)
            strikes.struck = 1 if lacking else 0
            strikes.where += f", which keeps {transactional_id}"
            strikes.how += f", which loaded a log that lacked {lacking:,} of {of:,} records"
            yield strikes


def _compacted(fault_target: FaultTarget, place: TopicPartition) -> tuple[int, int]:
    with on_observer_lane(fault_target) as leader_client:
        return compacted_away(leader_client, place, fault_target.clock, timeout_seconds=READ_SECONDS)


TOXIC = CompactedReload()
