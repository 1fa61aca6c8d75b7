"""Trim log: a partition of the workload's data loses its beginning, up to a drawn offset (KIP-107).

That may lie in the middle of transactions, also of open ones, up to the high watermark. The judge knows where the log
begins at last (ListOffsets), and misses nothing below. Needs only Kafka's own administration. Counts offsets that were
in the log before, and are below its beginning after.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from harness.base.json_value import Json
from harness.base.kafka_error import error_name
from harness.base.unprepared import Unprepared
from harness.faults.drawn_partition import drawn_partition
from harness.faults.fault_target import FaultTarget
from harness.faults.observer.observer_lane import on_observer_lane
from harness.faults.toxic import ClusterShape, Power, StrikeCount, ToxicReach
from harness.faults.typed_draws import number
from harness.kafka.raw_log import partition_end
from harness.wire.requests.log.delete_records import DeleteRecords
from harness.wire.topic_partitions import TopicPartition, partition_name

ANSWER_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordDeletion:
    """Fills :class:`harness.faults.toxic.Toxic` and ``DeletingToxic``."""

    name: str = "trim-log"
    power: Power = Power.LEADERSHIP
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.LEADERS,)
    disrupts_broker: bool = False
    deletes_records: bool = True

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """``topic`` (by the workload's name), ``partition``, and ``percent`` of what is in the log then."""
        topic = draw.choice(sorted(shape.topics))
        percent = draw.choice((100, draw.randint(20, 99)))
        return {"topic": topic, "partition": draw.randrange(shape.topics[topic]), "percent": percent}

    @contextmanager
    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> Iterator[StrikeCount]:
        """Deleted on entering; the block is time in which clients go on.

        :raises Unreachable: When its leader does not answer.
        :raises Unprepared: When the leader refuses.
        """
        place = drawn_partition(fault_target, chosen)
        begin, end, now = _delete(fault_target, place, number(chosen, "percent"))
        how = f"offsets deleted: the log reached from {begin} to {end}, and begins at {now}"
        yield StrikeCount(where=partition_name(*place), how=how, struck=max(0, now - begin), moved=())


def _delete(fault_target: FaultTarget, place: TopicPartition, percent: int) -> tuple[int, int, int]:
    """Where the log began and ended, and where it begins now."""
    with on_observer_lane(fault_target) as leader_client:
        before = partition_end(leader_client, place, fault_target.clock, ANSWER_SECONDS)
        offset = before.log_start_offset + (before.high_watermark - before.log_start_offset) * percent // 100
        request = DeleteRecords(topic=place[0], partition=place[1], offset=offset)
        deleted = leader_client.at_leader(place, request, timeout_seconds=ANSWER_SECONDS)
    if deleted.error:
        raise Unprepared(f"DeleteRecords of {partition_name(*place)} answered {error_name(deleted.error)}")
    return before.log_start_offset, before.high_watermark, deleted.low_watermark


TOXIC = RecordDeletion()
