"""What a round notes for :mod:`harness.evidence.situations`: the coordinators' own log, and terms of leaders.

Brokers stamp what they append with the machine's time, which becomes the run's only where they run on this machine and
no fault alters what they take for the time. Of other rounds nothing is said, nor where the log is compacted meanwhile.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.base.clock import RunClock
from harness.base.kafka_error import error_name
from harness.chaos.moments.struck_requests import requests_by_fault
from harness.chaos.moments.told_by_log import CLOCKS_OFF, COMPACTED, compacts, hides_states
from harness.evidence.situations.kept_situations import KeptRecords
from harness.evidence.situations.recorded import FaultMoment, HeldRequest, LeaderTerm, RoundRecords, StateRecord
from harness.evidence.situations.situation import UNKNOWN
from harness.faults.fault_target import FaultTarget
from harness.faults.observer.observer_lane import on_observer_lane
from harness.faults.toxic import Toxic
from harness.kafka.leader_client import LeaderClient, Unreachable
from harness.kafka.raw_log import MAX_BYTES, fetch_all
from harness.wire.records.record_batch import LogBatch
from harness.wire.records.transaction_state import TOPIC, decode_state
from harness.wire.requests.log.fetch import Fetch, FetchResult
from harness.wire.requests.log.list_offsets import ListOffsets
from harness.wire.topic_partitions import TopicPartition, partition_name
from harness.wire.wire_errors import UnreadableRecords

ANSWER_SECONDS = 5.0
FOREIGN = "the brokers' clocks are not this machine's, so that no state can be put in order with a fault"


@dataclass(frozen=True, slots=True)
class MachineTime:
    """Milliseconds since 1970 as times of the run, by what both clocks show now."""

    clock: RunClock
    offset_ms: float

    @classmethod
    def of(cls, clock: RunClock) -> "MachineTime":
        return cls(clock, time.time() * 1000 - clock.now())

    def run_ms(self, since_1970_ms: int) -> float:
        """A broker's time on the run's clock."""
        return round(since_1970_ms - self.offset_ms, 3)


def leader_terms(partition: TopicPartition, batches: Sequence[LogBatch], clock: RunClock) -> Iterator[LeaderTerm]:
    """One for each epoch whose leader appended a control marker."""
    machine, markers = MachineTime.of(clock), dict[int, list[int]]()
    for batch in batches:
        if batch.marker is not None:
            markers.setdefault(batch.leader_epoch, []).append(batch.base_timestamp_ms)
    for epoch, times in markers.items():
        first, last = machine.run_ms(times[0]), machine.run_ms(times[-1])
        yield LeaderTerm(partition=partition_name(*partition), epoch=epoch, first_marker=first, last_marker=last)


def situation_records(
    fault_target: FaultTarget,
    *,
    prefix: str,
    toxics: Sequence[Toxic],
    groups: bool,
    moments: Sequence[FaultMoment],
    held: Sequence[HeldRequest],
    terms: Sequence[LeaderTerm],
) -> KeptRecords:
    """All of a round. What cannot be read is told, and then no state counts.

    :param prefix: What the round's transactional ids begin with.
    :param toxics: Those that can strike.
    """
    lacking = _why_not(fault_target, moments, [toxic for toxic in toxics if hides_states(toxic)])
    states, lacking = ((), lacking) if lacking else _states(fault_target, prefix)
    recorded = RoundRecords(
        states=states, moments=tuple(moments), held=tuple(held), terms=tuple(terms) if not lacking else ()
    )
    faults = requests_by_fault([toxic for toxic in toxics if not hides_states(toxic)])
    return KeptRecords(faults=faults, groups=groups, recorded=recorded, lacking=lacking)


def _why_not(fault_target: FaultTarget, moments: Sequence[FaultMoment], hiding: Sequence[Toxic]) -> str:
    if not fault_target.cluster.owned:
        return FOREIGN
    if any(map(compacts, hiding)):
        return COMPACTED
    struck = {moment.fault for moment in moments}
    return CLOCKS_OFF if any(toxic.name in struck for toxic in hiding) else ""


def _states(fault_target: FaultTarget, prefix: str) -> tuple[tuple[StateRecord, ...], str]:
    machine = MachineTime.of(fault_target.clock)
    try:
        with on_observer_lane(fault_target) as leader_client:
            found = [
                record
                for partition in _partitions(leader_client)
                for record in _read(leader_client, partition, machine, prefix)
            ]
    except (Unreachable, UnreadableRecords) as failed:
        return (), f"{TOPIC} could not be read: {failed}"
    return tuple(found), ""


def _partitions(leader_client: LeaderClient) -> Sequence[TopicPartition]:
    answers = (leader_client.metadata_of(broker, (TOPIC,)) for broker in leader_client.brokers)
    for answer in answers:
        if answer is not None and TOPIC in answer.topics:
            return [(TOPIC, index) for index in sorted(answer.topics[TOPIC]["partitions"])]
    raise Unreachable("no broker names its partitions")


def _read(
    leader_client: LeaderClient, partition: TopicPartition, machine: MachineTime, prefix: str
) -> Iterator[StateRecord]:
    """Records of the round's ids, from when the round began."""
    topic, index = partition
    began = ListOffsets(topic=topic, partition=index, timestamp=round(machine.offset_ms))
    offset = leader_client.at_leader(partition, began, timeout_seconds=ANSWER_SECONDS).offset
    if offset < 0:
        return

    def fetch(offset: int) -> FetchResult:
        request = Fetch(topic=topic, partition=index, offset=offset, max_bytes=MAX_BYTES)
        result = leader_client.at_leader(partition, request, timeout_seconds=ANSWER_SECONDS)
        if result.error:
            raise Unreachable(f"Fetch of {partition_name(*partition)} answered {error_name(result.error)}")
        return result

    for result in fetch_all(fetch, offset):
        for batch in result.batches:
            yield from _of_round(batch, machine, prefix)


def _of_round(batch: LogBatch, machine: MachineTime, prefix: str) -> Iterator[StateRecord]:
    key = prefix.encode()
    for record in () if batch.is_control else batch.records:
        if key not in (record.key or b""):
            continue
        state = decode_state(record)
        yield StateRecord(
            at=machine.run_ms(record.timestamp_ms),
            transactional_id=state.transactional_id,
            state=UNKNOWN if state.version < 0 else state.state,
            producer_id=state.producer_id,
            producer_epoch=state.producer_epoch,
            leader_epoch=batch.leader_epoch,
            partitions=tuple(state.partitions),
        )
