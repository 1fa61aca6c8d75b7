"""An idempotent producer without a transactional id: producer id, epoch and sequences, and nothing else (KIP-98)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from harness.base.json_value import Json
from harness.evidence.requirement_evidence import Step
from harness.lab.partition import Partition
from harness.lab.step_recorder import RETRIABLE, StepRecorder
from harness.wire.records.record_batch import NewBatch
from harness.wire.requests.log.produce import PartitionBatch, Produce
from harness.wire.requests.transactions.init_producer_id import InitProducerId


@dataclass(slots=True, kw_only=True)
class IdempotentProducer:
    """On one lane; the sequence of each partition goes on after what was accepted there."""

    step_recorder: StepRecorder
    producer_id: int
    epoch: int
    next_sequences: dict[Partition, int] = field(default_factory=dict)

    def produce(
        self,
        partition: Partition,
        *,
        as_: str | None = None,
        version: int | None = None,
        sequence: int | None = None,
        values: Sequence[str] = (),
        timestamp_ms: int | None = None,
        retry: Collection[int] = RETRIABLE,
    ) -> Step:
        """One batch to one partition.

        :param values: A record each; without any, one record of a value of its own.
        :param timestamp_ms: Create time of the records instead of now.
        """
        lane = self.step_recorder.actor
        batch = NewBatch(
            values=tuple(values) or (self.step_recorder.notes.unique(f"{lane} {as_ or 'record'}"),),
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=self.next_sequences.get(partition, 0) if sequence is None else sequence,
            transactional=False,
            timestamp_ms=timestamp_ms,
        )
        step = self._send(partition, batch, version, as_, retry)
        if step.error == 0:
            self.next_sequences[partition] = batch.base_sequence + len(batch.values)
        return step

    def _send(
        self, partition: Partition, batch: NewBatch, version: int | None, as_: str | None, retry: Collection[int]
    ) -> Step:
        place = PartitionBatch(
            topic=partition.topic, partition=partition.index, batch=batch, topic_id=partition.topic_id
        )
        request = Produce(transactional_id=None, batches=(place,))
        client = self.step_recorder.client
        used = client.highest(partition.leader, Produce.api) if version is None else version
        fields = _noted(partition, batch)
        return self.step_recorder.ask(partition.leader, request, used, as_=as_, request=fields, retry=retry)


def begun(step_recorder: StepRecorder, broker: int) -> IdempotentProducer:
    """A producer with an id that this broker gave it; :raises Unprepared: when it gives none."""
    request = InitProducerId(transactional_id=None)
    version = step_recorder.client.highest(broker, request.api, 4)
    step = step_recorder.ask(broker, request, version)
    return IdempotentProducer(
        step_recorder=step_recorder,
        producer_id=step.answer_int("producer_id"),
        epoch=step.answer_int("producer_epoch"),
    )


def _noted(partition: Partition, batch: NewBatch) -> dict[str, Json]:
    return {
        "partitions": [str(partition)],
        "transactional": False,
        "producer_id": batch.producer_id,
        "producer_epoch": batch.producer_epoch,
        "base_sequence": batch.base_sequence,
        "values": [*batch.values],
        **({} if batch.timestamp_ms is None else {"timestamp_ms": batch.timestamp_ms}),
    }
