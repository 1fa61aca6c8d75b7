"""What coordinators wrote of a round's transactional ids to ``__transaction_state``."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.chaos.observe.situation_evidence import MachineTime
from harness.evidence.situations.recorded import StateRecord
from harness.evidence.situations.situation import UNKNOWN
from harness.evidence.transaction_states import OVER
from harness.kafka.leader_client import LeaderClient, Unreachable, require_success
from harness.kafka.raw_log import MAX_BYTES, fetch_all
from harness.wire.records.record_batch import LogBatch
from harness.wire.records.transaction_state import TOPIC, TransactionState, decode_state
from harness.wire.requests.log.fetch import Fetch, FetchResult
from harness.wire.requests.log.list_offsets import ListOffsets
from harness.wire.topic_partitions import TopicPartition, partition_name
from harness.wire.wire_errors import UnreadableRecords

ANSWER_SECONDS = 5.0
NONE = -1
"""How Kafka writes that there is no producer id, or no time."""


@dataclass(slots=True, kw_only=True)
class CoordinatorsLog:
    """Read on, each time, from where the last reading ended; at first from when the round began.

    :param prefix: What the round's transactional ids begin with.
    :param states: Of all records of those ids; of one id in their order.
    :param last: Their last records, by transactional id.
    :param next_ids: The producer ids to follow that any of their records in a state that is over names; none should,
        because what has ended has the producer id that is to be used.
    :param lacking: Why it could not be read; then ``states`` and ``last`` are not whole.
    """

    leader_client: LeaderClient
    machine: MachineTime
    prefix: str
    states: list[StateRecord] = field(default_factory=list)
    last: dict[str, TransactionState] = field(default_factory=dict)
    next_ids: dict[str, int] = field(default_factory=dict)
    lacking: str = ""
    _next: dict[TopicPartition, int] = field(default_factory=dict)

    def read_on(self) -> None:
        """All that was written since; where that is not to be had, ``lacking`` says why."""
        try:
            for partition in self._partitions():
                self._read(partition)
        except (Unreachable, UnreadableRecords) as failed:
            self.lacking = f"{TOPIC} could not be read: {failed}"

    def _partitions(self) -> Sequence[TopicPartition]:
        answers = (self.leader_client.metadata_of(broker, (TOPIC,)) for broker in self.leader_client.brokers)
        for answer in answers:
            if answer is not None and TOPIC in answer.topics:
                return [(TOPIC, index) for index in sorted(answer.topics[TOPIC]["partitions"])]
        raise Unreachable("no broker names its partitions")

    def _read(self, partition: TopicPartition) -> None:
        topic, index = partition
        offset = self._next.get(partition, -1)
        if offset < 0:
            began = ListOffsets(topic=topic, partition=index, timestamp=round(self.machine.offset_ms))
            offset = self.leader_client.at_leader(partition, began, timeout_seconds=ANSWER_SECONDS).offset
        if offset < 0:  # nothing was written since
            return

        def fetch(offset: int) -> FetchResult:
            request = Fetch(topic=topic, partition=index, offset=offset, max_bytes=MAX_BYTES)
            result = self.leader_client.at_leader(partition, request, timeout_seconds=ANSWER_SECONDS)
            require_success(result.error, f"Fetch of {partition_name(*partition)}")
            return result

        for result in fetch_all(fetch, offset):
            for batch in result.batches:
                self._note(batch)
            self._next[partition] = result.next_offset

    def _note(self, batch: LogBatch) -> None:
        key = self.prefix.encode()
        for record in () if batch.is_control else batch.records:
            if key not in (record.key or b""):
                continue
            state = decode_state(record)
            self.last[state.transactional_id] = state
            if state.state in OVER and state.next_producer_id != NONE:
                self.next_ids[state.transactional_id] = state.next_producer_id
            self.states.append(
                StateRecord(
                    at=self.machine.run_ms(record.timestamp_ms),
                    transactional_id=state.transactional_id,
                    state=UNKNOWN if state.version < 0 else state.state,
                    producer_id=state.producer_id,
                    producer_epoch=state.producer_epoch,
                    leader_epoch=batch.leader_epoch,
                    partitions=tuple(state.partitions),
                )
            )
