"""The observer: reads what the cluster says of itself, over a lane that never carries a toxic."""

from collections.abc import Collection
from dataclasses import asdict, dataclass, replace

from harness.base.json_value import Json
from harness.evidence.requirement_evidence import Batch, LogTruth, Sample, Step
from harness.lab.group import Group
from harness.lab.partition import Partition
from harness.lab.step_recorder import StepRecorder, Unprepared
from harness.wire.records.isolation import committed_view
from harness.wire.records.transaction_state import TOPIC, state_partition
from harness.wire.requests.cluster.api_versions import ApiVersions
from harness.wire.requests.cluster.metadata import Metadata
from harness.wire.requests.log.fetch import Fetch, FetchResult
from harness.wire.requests.log.fetch_transaction_state import FetchTransactionState
from harness.wire.requests.log.list_offsets import ListOffsets
from harness.wire.requests.transactions.describe_producers import DescribeProducers
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions
from harness.wire.requests.transactions.list_transactions import ListTransactions

READ_UNCOMMITTED, READ_COMMITTED = 0, 1
LATEST = -1
WHOLE_LOGS = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Observer:
    """Questions about the state of partitions, producers and transactions."""

    asker: StepRecorder

    def end_offset(self, partition: Partition, *, as_: str | None = None) -> int:
        """The high watermark (ListOffsets, latest, read_uncommitted)."""
        return self._list(partition, READ_UNCOMMITTED, as_)

    def last_stable_offset(self, partition: Partition, *, as_: str | None = None) -> int:
        """The last stable offset (ListOffsets, latest, read_committed)."""
        return self._list(partition, READ_COMMITTED, as_)

    def sample(self, partition: Partition, name: str = "") -> Sample:
        """High watermark and last stable offset in one answer; noted, so that the report can draw them."""
        result = self._fetch(partition, 0, READ_UNCOMMITTED, max_bytes=1)
        sample = Sample(
            at=self.asker.clock.now(),
            partition=partition.alias,
            high_watermark=result.high_watermark,
            last_stable_offset=result.last_stable_offset,
            name=name,
        )
        self.asker.notes.samples.append(sample)
        return sample

    def producers(self, partition: Partition, *, as_: str | None = None) -> Step:
        """DescribeProducers: the answer's ``producers`` is a list of producer states (KIP-664)."""
        verb = DescribeProducers(topic=partition.topic, partition=partition.index)
        version = self.asker.client.highest(partition.leader, "DescribeProducers")
        return self.asker.ask(partition.leader, verb, version, as_=as_, request={"partition": str(partition)})

    def transaction(self, transactional_id: str, coordinator: int, *, as_: str | None = None) -> Step:
        """DescribeTransactions: state, producer id, epoch, partitions."""
        verb = DescribeTransactions(transactional_id=transactional_id)
        version = self.asker.client.highest(coordinator, "DescribeTransactions")
        return self.asker.ask(coordinator, verb, version, as_=as_, request={"transactional_id": transactional_id})

    def state(self, transactional_id: str, coordinator: int) -> str:
        """The state that the coordinator keeps for the id now, in Kafka's words; not noted as a step."""
        version = self.asker.client.highest(coordinator, "DescribeTransactions")
        verb = DescribeTransactions(transactional_id=transactional_id)
        return self.asker.client.call(coordinator, verb, version).result.state

    def transactions(self, broker: int, *, as_: str | None = None, version: int = 0) -> Step:
        """ListTransactions of one broker, without filters."""
        return self.asker.ask(broker, ListTransactions(), version, as_=as_)

    def advertised(self, broker: int, *, as_: str | None = None, version: int = 4) -> Step:
        """ApiVersions: offered APIs and features; version 3 leaves out features whose lowest level is 0 (KIP-1022)."""
        return self.asker.ask(broker, ApiVersions(), version, as_=as_)

    def transaction_records(self, transactional_id: str, coordinator: int) -> list[Json]:
        """Every record of ``__transaction_state`` about the id, decoded, in log order; its coordinator leads them."""
        index = state_partition(transactional_id, self._state_partitions(coordinator))
        version = self.asker.client.highest(coordinator, "Fetch", 12)
        records: list[Json] = []
        position, end = 0, 1
        while position < end:
            verb = FetchTransactionState(partition=index, offset=position)
            result = self.asker.client.call(coordinator, verb, version).result
            if result.error != 0 or result.next_offset == position:
                raise Unprepared(f"{TOPIC}-{index} could not be read from {position}: error {result.error}")
            records += [asdict(state) for state in result.states if state.transactional_id == transactional_id]
            position, end = result.next_offset, result.high_watermark
        return records

    def _state_partitions(self, node: int) -> int:
        version = self.asker.client.highest(node, "Metadata")
        return len(self.asker.client.call(node, Metadata(topics=(TOPIC,)), version).result.topics[TOPIC]["partitions"])

    def offsets(self, group: Group, producer_ids: Collection[int]) -> LogTruth:
        """The group's offsets partition with the batches of these producers alone, their (binary) values left out."""
        whole = self.log(group.offsets)
        own = (batch for batch in whole.batches if batch.producer_id in producer_ids)
        return replace(whole, batches=tuple(replace(batch, values=()) for batch in own), committed=())

    def log(self, partition: Partition) -> LogTruth:
        """The whole partition, raw and as a read_committed client is shown it."""
        raw = self._fetch_all(partition, READ_UNCOMMITTED)
        high_watermark, stable, batches, _ = raw
        _, _, shown, aborted = self._fetch_all(partition, READ_COMMITTED)
        return LogTruth(
            batches=batches,
            high_watermark=high_watermark,
            last_stable_offset=stable,
            committed=committed_view(shown, aborted),
        )

    def _fetch_all(
        self, partition: Partition, isolation: int
    ) -> tuple[int, int, tuple[Batch, ...], tuple[tuple[int, int], ...]]:
        batches: list[Batch] = []
        aborted: dict[tuple[int, int], None] = {}
        position = 0
        while True:
            result = self._fetch(partition, position, isolation)
            fresh = [batch for batch in result.batches if batch.last_offset >= position]
            batches.extend(fresh)
            aborted.update(dict.fromkeys(result.aborted))
            if not fresh:
                return result.high_watermark, result.last_stable_offset, tuple(batches), tuple(aborted)
            position = fresh[-1].last_offset + 1

    def _fetch(self, partition: Partition, offset: int, isolation: int, max_bytes: int = WHOLE_LOGS) -> FetchResult:
        verb = Fetch(
            topic=partition.topic, partition=partition.index, offset=offset, isolation=isolation, max_bytes=max_bytes
        )
        version = self.asker.client.highest(partition.leader, "Fetch", 12)
        result = self.asker.client.call(partition.leader, verb, version).result
        if result.error != 0:
            raise Unprepared(f"Fetch of {partition.alias} answered {result.error}")
        return result

    def _list(self, partition: Partition, isolation: int, as_: str | None) -> int:
        verb = ListOffsets(topic=partition.topic, partition=partition.index, timestamp=LATEST, isolation=isolation)
        version = self.asker.client.highest(partition.leader, "ListOffsets")
        step = self.asker.ask(
            partition.leader, verb, version, as_=as_, request={"partition": str(partition), "isolation": isolation}
        )
        return step.number("offset")
