"""The consuming half of a wire client: membership, positions of the assigned partitions, read_committed Fetch.

Positions begin at the group's committed offsets, asked for with ``require_stable`` (KIP-447): an offset that an open
transaction may still commit is waited for, since the partition's last owner may be about to end it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from harness.base import wait
from harness.base.kafka_error import KafkaError
from harness.clients.client import CallResult, ClientOptions, refused_locally
from harness.clients.wire.deadline import Deadline
from harness.clients.wire.group_member import GroupMember, GroupMetadata
from harness.clients.wire.retry import Retry
from harness.evidence.history.delivered_record import DeliveredRecord
from harness.evidence.history.operation import Outcome
from harness.wire.records.isolation import committed_records
from harness.wire.records.record_batch import text
from harness.wire.requests.groups.offset_fetch import NO_OFFSET, OffsetFetch
from harness.wire.requests.log.fetch import READ_COMMITTED, Fetch, FetchResult
from harness.wire.requests.log.list_offsets import EARLIEST, ListOffsets
from harness.wire.topic_partitions import TopicPartition, partition_name
from harness.wire.wire_errors import WireError

IDLE_SECONDS = 0.02
"""Between two rounds of fetches that brought nothing."""
SHORTEST_FETCH_SECONDS = 0.05
"""What a fetch may take at least, however short the poll."""
FETCH_BYTES = 1 << 20
"""``max.partition.fetch.bytes`` of the Java client."""


@dataclass(slots=True, kw_only=True)
class WireConsumer:
    """The verbs ``subscribe`` and ``poll`` of one client.

    :param retry: Over the connections that the producer uses too.
    :param member_retry: Over the member's own connections.
    """

    options: ClientOptions
    retry: Retry
    member_retry: Retry
    member: GroupMember | None = None
    positions: dict[TopicPartition, int] = field(default_factory=dict)
    _positions_of_join: int = 0

    @property
    def metadata(self) -> GroupMetadata:
        """As whom offsets are committed; without ``subscribe`` as no member (generation -1)."""
        assert self.options.group is not None, "send_offsets without a group"
        return self.member.metadata if self.member else GroupMetadata(group=self.options.group)

    def subscribe(self, topics: Sequence[str]) -> CallResult:
        """Done when partitions are assigned, or the group has none left for us."""
        if self.member is None:
            self.member = GroupMember(options=self.options, retry=self.member_retry)
            self._positions_of_join = 0
        self.member.topics = tuple(topics)
        return self._positioned(self.member.join(self._deadline()), self.member)

    def poll(self, within_ms: int) -> CallResult:
        """See the port; may take up to ``request_ms`` when the group rebalances."""
        if self.member is None:
            return refused_locally("subscribe comes first")
        owning = self._positioned(self.member.stay(self._deadline()), self.member)
        return replace(owning, records=self._fetched(Deadline.of_ms(within_ms))) if owning.done else owning

    def close(self) -> None:
        if self.member is not None:
            self.member.leave()
            self.member = None

    def _deadline(self) -> Deadline:
        return Deadline.of_ms(self.options.request_ms)

    def _positioned(self, joined: CallResult, member: GroupMember) -> CallResult:
        """Read on from the committed offsets once a new generation has begun."""
        if not joined.done or member.joins == self._positions_of_join:
            return joined
        result = self._begin(member.group, member.assigned, self._deadline())
        self._positions_of_join = member.joins if result.done else 0
        return result

    def _begin(self, group: str, partitions: Sequence[TopicPartition], deadline: Deadline) -> CallResult:
        """From the group's committed offsets, or the beginning where it has none."""
        self.positions.clear()
        if not partitions:
            return CallResult(outcome=Outcome.DONE, tries=0)
        request = OffsetFetch(group=group, partitions=partitions, require_stable=True)
        result, answer = self.retry.ask(
            request, lambda left: self.retry.routes.coordinator_of_group(group, left), deadline
        )
        if answer is not None and result.done:
            for partition in partitions:
                offset = answer.offsets.get(partition_name(*partition), NO_OFFSET)
                self.positions[partition] = offset if offset >= 0 else self._earliest(partition, deadline)
        return result

    def _fetched(self, deadline: Deadline) -> list[DeliveredRecord]:
        """The next committed records of all partitions; empty when the deadline passed without any."""
        while True:
            records = [record for partition in list(self.positions) for record in self._fetch(partition, deadline)]
            if records or deadline.over:
                return records
            wait.pause(min(IDLE_SECONDS, deadline.left))

    def _fetch(self, topic_partition: TopicPartition, deadline: Deadline) -> list[DeliveredRecord]:
        """One fetch; a partition that does not answer now brings nothing, and is asked again by the next poll."""
        topic, partition = topic_partition
        node = self.retry.routes.leader(topic, partition, deadline)
        if node is None:
            self.retry.routes.forget("Fetch")
            return []
        request = Fetch(
            topic=topic,
            partition=partition,
            offset=self.positions[topic_partition],
            isolation=READ_COMMITTED,
            max_bytes=FETCH_BYTES,
        )
        try:
            answer = self.retry.connections.ask(node, request, max(deadline.left, SHORTEST_FETCH_SECONDS))
        except WireError:
            self.retry.routes.forget("Fetch")
            return []
        return self._advance(topic_partition, answer, deadline)

    def _advance(
        self, topic_partition: TopicPartition, answer: FetchResult, deadline: Deadline
    ) -> list[DeliveredRecord]:
        if answer.error:
            self.retry.routes.forget("Fetch")
            if answer.error == KafkaError.OFFSET_OUT_OF_RANGE:
                self.positions[topic_partition] = self._earliest(topic_partition, deadline)
            return []
        position = self.positions[topic_partition]
        self.positions[topic_partition] = max(position, answer.next_offset)
        shown = committed_records(answer.batches, answer.aborted)
        return [
            DeliveredRecord(*topic_partition, record.offset, text(record.value))
            for record in shown
            if record.offset >= position
        ]

    def _earliest(self, topic_partition: TopicPartition, deadline: Deadline) -> int:
        topic, partition = topic_partition
        result, answer = self.retry.ask(
            ListOffsets(topic=topic, partition=partition, timestamp=EARLIEST),
            lambda left: self.retry.routes.leader(topic, partition, left),
            deadline,
        )
        return answer.offset if answer is not None and result.done else 0
