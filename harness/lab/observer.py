"""The observer: reads the cluster's state over a lane that never carries a fault.

Leaders and coordinators alone are believed (:mod:`harness.kafka.in_charge`): leaders are asked in their epoch, and what
a broker says that is no longer in charge is not noted: the situation is then Unprepared.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, replace

from harness.base.json_value import Json
from harness.base.kafka_error import KafkaError, error_name
from harness.base.unprepared import OutOfReach, Unprepared
from harness.evidence.requirement_evidence import LogTruth, Sample, Step
from harness.kafka.in_charge import version_of_leaders
from harness.kafka.raw_log import fetch_all
from harness.kafka.retriable import STALE_ROUTE
from harness.kafka.routing import RoutingTable
from harness.lab.leader_reads import LeaderReads
from harness.lab.partition import Group, Partition
from harness.lab.powers.committed_offsets import committed_offset
from harness.lab.step_recorder import RETRIABLE, ResultT, StepRecorder
from harness.lab.told_offsets import told_log, told_sample
from harness.wire.api_request import ApiRequest
from harness.wire.records.isolation import committed_records
from harness.wire.records.record_batch import text
from harness.wire.records.transaction_state import TOPIC, decode_state
from harness.wire.requests.cluster.api_versions import ApiVersions
from harness.wire.requests.cluster.metadata import Metadata
from harness.wire.requests.log.fetch import READ_COMMITTED, READ_UNCOMMITTED, Fetch, FetchResult
from harness.wire.requests.log.list_offsets import EARLIEST, ListOffsets
from harness.wire.requests.transactions.describe_producers import DescribeProducers
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions
from harness.wire.requests.transactions.list_transactions import ListTransactions
from harness.wire.topic_partitions import TopicPartition, partition_name

MAX_BYTES = 16 << 20
"""Of one answer: the whole log of a requirement's partition."""


@dataclass(frozen=True, slots=True)
class Observer:
    """Reads the state of partitions, producers and transactions."""

    recorder: StepRecorder
    reads: LeaderReads

    def end_offset(self, partition: Partition, *, as_: str | None = None) -> int:
        """The high watermark (ListOffsets, latest, read_uncommitted)."""
        return self._latest(partition, READ_UNCOMMITTED, as_)

    def start_offset(self, partition: Partition) -> int:
        """Where the log begins now (ListOffsets, earliest)."""
        request = ListOffsets(topic=partition.topic, partition=partition.index, timestamp=EARLIEST)
        return self.reads.of_leader(partition.leader, partition.topic, request).offset

    def last_stable_offset(self, partition: Partition, *, as_: str | None = None) -> int:
        """The last stable offset (ListOffsets, latest, read_committed)."""
        return self._latest(partition, READ_COMMITTED, as_)

    def sample(self, partition: Partition, name: str = "") -> Sample:
        """High watermark and last stable offset in one answer; noted, so that the report can draw them."""
        result = self._fetch(partition.leader, partition.topic_partition, partition.start, max_bytes=1)
        read = Sample(
            at=self.recorder.clock.now(),
            partition=partition.alias,
            high_watermark=result.high_watermark,
            last_stable_offset=result.last_stable_offset,
            name=name,
        )
        sample = told_sample(read, partition.start)
        self.recorder.notes.samples.append(sample)
        return sample

    def producers(self, partition: Partition, *, as_: str | None = None) -> Step:
        """DescribeProducers: the answer's ``producers`` is a list of producer states (KIP-664)."""
        request, fields = DescribeProducers(topic=partition.topic, partition=partition.index), _of(partition)
        if not partition.known:
            return self.recorder.not_looked(partition.leader, request.api, as_=as_, request=fields)
        before = self._led_in(partition)
        return self._look(partition.leader, request, as_, fields, lambda: self._led_in(partition) == before is not None)

    def transaction(
        self, transactional_id: str, coordinator: int, *, as_: str | None = None, began: float | None = None
    ) -> Step:
        """DescribeTransactions: state, producer id, epoch, partitions.

        :param began: Since when it was waited for what is kept; None: since now.
        """
        request = DescribeTransactions(transactional_id=transactional_id)
        fields: dict[str, Json] = {"transactional_id": transactional_id}
        before = self.reads.coordination(coordinator, transactional_id)

        def stands() -> bool:
            return before == self.reads.coordination(coordinator, transactional_id) is not None

        return self._look(coordinator, request, as_, fields, stands, began)

    def describes_transactions(self, coordinator: int) -> bool:
        """Whether the broker offers DescribeTransactions (KIP-664); one that does not is judged without these looks."""
        return self._offers(coordinator, DescribeTransactions.api)

    def state(self, transactional_id: str, coordinator: int) -> str:
        """The state that the coordinator keeps for the id now, in Kafka's words; not noted as a step."""
        request = DescribeTransactions(transactional_id=transactional_id)
        version = self.recorder.client.highest(coordinator, request.api)
        return self.recorder.answer(coordinator, request, version).state

    def transactions(
        self,
        broker: int,
        *,
        as_: str | None = None,
        version: int = 0,
        states: Sequence[str] = (),
        producer_ids: Sequence[int] = (),
        duration_ms: int = -1,
        pattern: str | None = None,
    ) -> Step:
        """ListTransactions of one broker: ``transactions`` and ``unknown_states``; without filters, all that it keeps.

        :param duration_ms: From version 1 on: only transactions that began longer ago (KIP-994).
        :param pattern: From version 2 on: a regular expression for the id (KIP-1152).
        """
        before = self.reads.state_led_by(broker)
        request = ListTransactions(
            states=tuple(states), producer_ids=tuple(producer_ids), duration_ms=duration_ms, pattern=pattern
        )
        filters: dict[str, Json] = {
            "states": list(states),
            "producer_ids": list(producer_ids),
            "duration_ms": duration_ms,
            "pattern": pattern,
        }
        step = self.recorder.asked(broker, request, version, as_=as_, request=filters)
        return self._kept(step, as_, lambda: self.reads.state_led_by(broker) == before)

    def advertised(self, broker: int, *, as_: str | None = None, version: int = 4) -> Step:
        """ApiVersions: offered APIs and features; version 3 leaves out features whose lowest level is 0 (KIP-1022)."""
        return self.recorder.ask(broker, ApiVersions(), version, as_=as_)

    def transaction_records(self, transactional_id: str, coordinator: int) -> list[Json]:
        """Every record of ``__transaction_state`` about the id, decoded, in log order; its coordinator leads them.

        What was there before the id was drawn is not read.

        :raises OutOfReach: When there is no such topic.
        :raises Unprepared: When the partition cannot be read to its high watermark.
        """
        kept_in = self._state_partition(transactional_id, coordinator)
        start = self.recorder.notes.starts.get(partition_name(*kept_in))
        if start is None:
            raise Unprepared(f"{partition_name(*kept_in)} may not be read")
        records: list[Json] = []
        for result in fetch_all(lambda offset: self._fetch(coordinator, kept_in, offset), start):
            batches = [batch for batch in result.batches if not batch.is_control]
            states = [decode_state(record) for batch in batches for record in batch.records]
            own = [state for state in states if state.transactional_id == transactional_id]
            records += [asdict(replace(state, offset=state.offset - start)) for state in own]
            if result.next_offset >= result.high_watermark:
                return records
        raise Unprepared(f"{partition_name(*kept_in)} could not be read to its end")

    def offsets(self, group: Group, producer_ids: Collection[int]) -> LogTruth:
        """The group's offsets partition with the batches of these producers alone, their (binary) values left out."""
        whole = self.log(group.offsets)
        own = (batch for batch in whole.batches if batch.producer_id in producer_ids)
        return replace(whole, batches=tuple(replace(batch, values=()) for batch in own), committed=())

    def committed_offset(
        self,
        group: Group,
        partition: Partition,
        *,
        require_stable: bool = False,
        as_: str | None = None,
        retry: Collection[int] = RETRIABLE,
    ) -> Step:
        """OffsetFetch: ``offset`` is what the group has committed for the partition, -1 when it has none.

        :param require_stable: Do not answer with an offset that an open transaction may still change (KIP-447).
        """
        return committed_offset(self.recorder, group, partition, require_stable=require_stable, as_=as_, retry=retry)

    def log(self, partition: Partition) -> LogTruth:
        """All of it from where this requirement began, raw and as a read_committed client sees it."""
        self.reads.await_watermark(partition.leader, *partition.topic_partition)
        raw, shown = self._read(partition, READ_UNCOMMITTED), self._read(partition, READ_COMMITTED)
        aborted = [transaction for answer in shown for transaction in answer.aborted]
        committed = committed_records((batch for answer in shown for batch in answer.batches), aborted)
        truth = LogTruth(
            batches=tuple(batch.as_evidence() for answer in raw for batch in answer.batches),
            high_watermark=raw[-1].high_watermark,
            last_stable_offset=raw[-1].last_stable_offset,
            committed=tuple(text(record.value) for record in committed if record.offset >= partition.start),
        )
        return told_log(truth, partition.start)

    def _look(
        self,
        node: int,
        request: ApiRequest[ResultT],
        as_: str | None,
        fields: dict[str, Json],
        stands: Callable[[], bool],
        began: float | None = None,
    ) -> Step:
        """A step; one that says that nothing was looked at where the broker does not offer the API."""
        if not self._offers(node, request.api):
            return self.recorder.not_looked(node, request.api, as_=as_, request=fields)
        version = self.recorder.client.highest(node, request.api)
        step = self.recorder.asked(node, request, version, as_=as_, request=fields)
        waited = step.waited_ms if began is None else round(self.recorder.clock.now() - began, 3)
        return self._kept(replace(step, waited_ms=waited), as_, stands)

    def _led_in(self, partition: Partition) -> int | None:
        """The epoch in which the partition's broker leads it now; None when it does not."""
        request = ListOffsets(topic=partition.topic, partition=partition.index)
        error = self.reads.of_leader(partition.leader, partition.topic, request).error
        return None if error in STALE_ROUTE else self.reads.epoch(partition.topic_partition)

    def _kept(self, step: Step, as_: str | None, stands: Callable[[], bool]) -> Step:
        """Note the step; :raises Unprepared: before that, when the broker that answered is not in charge."""
        if step.error is not None and step.error not in STALE_ROUTE and not stands():
            raise Unprepared(f"broker {step.node} answered {step.api}, but is not, or no longer, in charge")
        return self.recorder.kept(step, as_)

    def _offers(self, node: int, api: str) -> bool:
        return api in self.recorder.client.offered(node).apis

    def _read(self, partition: Partition, isolation: int) -> list[FetchResult]:
        def fetch(offset: int) -> FetchResult:
            return self._fetch(partition.leader, partition.topic_partition, offset, isolation=isolation)

        return list(fetch_all(fetch, partition.start))

    def _fetch(
        self,
        leader: int,
        topic_partition: TopicPartition,
        offset: int,
        *,
        isolation: int = READ_UNCOMMITTED,
        max_bytes: int = MAX_BYTES,
    ) -> FetchResult:
        topic, index = topic_partition
        request = Fetch(topic=topic, partition=index, offset=offset, isolation=isolation, max_bytes=max_bytes)
        result = self.reads.of_leader(leader, topic, request)
        if result.error == KafkaError.OFFSET_OUT_OF_RANGE:  # what was there is deleted; the log begins later
            first = self.reads.of_leader(leader, topic, ListOffsets(topic=topic, partition=index, timestamp=EARLIEST))
            result = self.reads.of_leader(leader, topic, replace(request, offset=max(offset, first.offset)))
        if result.error:
            raise Unprepared(f"Fetch of {partition_name(topic, index)} answered {error_name(result.error)}")
        return result

    def _state_partition(self, transactional_id: str, node: int) -> TopicPartition:
        version = self.recorder.client.highest(node, Metadata.api)
        table = RoutingTable()
        table.learn(self.recorder.answer(node, Metadata(topics=(TOPIC,)), version))
        found = table.key_partition(TOPIC, transactional_id)
        if found is None:
            raise OutOfReach(f"broker {node} knows no partitions of {TOPIC}")
        return found

    def _latest(self, partition: Partition, isolation: int, as_: str | None) -> int:
        request = ListOffsets(topic=partition.topic, partition=partition.index, isolation=isolation)
        version = version_of_leaders(self.recorder.client, partition.leader, request.api)
        noted: dict[str, Json] = {"partition": str(partition), "isolation": isolation}

        def ask() -> Step:
            dated = self.reads.dated(request)
            return self.recorder.asked(partition.leader, dated, version, as_=as_, request=noted)

        step = self.reads.in_newest_epoch(partition.topic, ask)
        if step.error in STALE_ROUTE:
            raise Unprepared(f"broker {step.node} answered {step.api} of {partition} with {error_name(step.error)}")
        return self.recorder.kept(step, as_).answer_int("offset")


def _of(partition: Partition) -> dict[str, Json]:
    return {"partition": str(partition)}
