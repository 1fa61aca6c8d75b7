"""A raw transactional producer: every request of the protocol, at any version, in any order, right or wrong.

It keeps what a client keeps (:mod:`harness.kafka.producer_state`) and lets the stimulus override any of it. Protocol 1
adds partitions itself and keeps its epoch; protocol 2 lets Produce add them and takes the bumped epoch from the answer
of EndTxn (KIP-890, «New Clients»).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from harness.base.json_value import Json
from harness.base.unprepared import OutOfReach
from harness.evidence.requirement_evidence import Step
from harness.kafka.transaction_protocol import V1
from harness.lab.partition import Partition
from harness.lab.powers.identified_producer import overridden
from harness.lab.powers.offsets_producer import OffsetsProducer
from harness.lab.step_recorder import RETRIABLE, ResultT, StepRecorder
from harness.wire.api_results import ProducerIdAndEpoch
from harness.wire.requests.log.produce import Produce, ProduceResult
from harness.wire.requests.transactions.end_txn import EndTxn
from harness.wire.wire_client import PendingResponse


@dataclass(frozen=True, slots=True)
class PendingRequest(Generic[ResultT]):
    """A request that was sent and whose answer is not asked for yet."""

    step_recorder: StepRecorder
    pending: PendingResponse[ResultT]
    request: dict[str, Json]

    def answer(self, *, as_: str | None, timeout_seconds: float | None = None) -> Step:
        """Wait for the answer and note it."""
        return self.step_recorder.finish(self.pending, as_=as_, request=self.request, timeout_seconds=timeout_seconds)

    def done(self) -> bool:
        """Whether the answer has come already; returns at once."""
        return self.pending.done()


@dataclass(slots=True, kw_only=True)
class Producer(OffsetsProducer):
    """A producer on one lane; see the module's docstring.

    The parameters that its methods share: ``as_`` names the step in the evidence, ``version`` is the request's instead
    of the protocol's highest, ``retry`` are the errors after which the request is sent again; ``epoch``,
    ``producer_id``, ``sequence`` and ``transactional_id`` stand in the request instead of the producer's own.
    """

    def apart(self) -> "Producer":
        """The same producer over a connection of its own, whose requests a broker serves beside this one's.

        :raises OutOfReach: When this one's lane has a single client.
        """
        if self.step_recorder.another is None:
            raise OutOfReach(f"{self.lane} has no second connection")
        made = replace(self, step_recorder=self.step_recorder.another())
        made.become(self.producer_id, self.epoch)
        return made

    def init(
        self,
        *,
        as_: str | None = None,
        identity: tuple[int, int] = (-1, -1),
        version: int | None = None,
        timeout_ms: int = 60_000,
        retry: Collection[int] = RETRIABLE,
        adopt: bool = True,
    ) -> Step:
        """InitProducerId, with ``identity`` = (producer id, epoch) from version 3 on (KIP-360).

        ``adopt=False`` leaves this producer's own identity as it was.
        """
        producer_id, epoch = identity
        request = replace(self.state.init_producer_id(timeout_ms), producer_id=producer_id, producer_epoch=epoch)
        fields: dict[str, Json] = {"producer_id": producer_id, "producer_epoch": epoch, "timeout_ms": timeout_ms}
        # Version 5 only lets the broker answer TRANSACTION_ABORTABLE, which no requirement about InitProducerId needs.
        used = self.version("InitProducerId", V1.highest_versions["InitProducerId"]) if version is None else version
        step = self.step_recorder.ask(self.coordinator, request, used, as_=as_, request=fields, retry=retry)
        if adopt and step.error == 0:
            self.become(step.answer_int("producer_id"), step.answer_int("producer_epoch"))
        return step

    def add(
        self,
        *partitions: Partition,
        as_: str | None = None,
        version: int | None = None,
        epoch: int | None = None,
        retry: Collection[int] = RETRIABLE,
    ) -> Step:
        """AddPartitionsToTxn (version 3 at most: 4 and later are sent between brokers)."""
        places = [partition.topic_partition for partition in partitions]
        request = overridden(self.state.add_partitions(*places), producer_epoch=epoch)
        fields: dict[str, Json] = {
            "producer_epoch": request.producer_epoch,
            "partitions": [str(partition) for partition in partitions],
        }
        used = self.version("AddPartitionsToTxn") if version is None else version
        step = self.step_recorder.ask(self.coordinator, request, used, as_=as_, request=fields, retry=retry)
        if step.error == 0:
            self.state.added.update(places)
        return step

    def write(self, partition: Partition) -> Step:
        """One record into the open transaction, the way this producer's protocol does it."""
        if self.state.must_add(partition.topic_partition):
            self.add(partition)
        return self.produce(partition)

    def produce(
        self,
        *partitions: Partition,
        as_: str | None = None,
        version: int | None = None,
        epoch: int | None = None,
        producer_id: int | None = None,
        sequence: int | None = None,
        values: Sequence[str] = (),
        keys: tuple[str, ...] | None = None,
        transactional: bool = True,
        timestamp_ms: int | None = None,
        retry: Collection[int] = RETRIABLE,
        timeout_seconds: float | None = None,
    ) -> Step:
        """One Produce request, a batch for each partition (all led by the same broker).

        :param values: A record each, the same in every batch; without any, one record of a value of its own.
        :param keys: One for each value, where the topic needs them.
        :param transactional: False for batches without that flag: no coordinator is asked, the leader alone decides.
        :param timestamp_ms: Create time of the records instead of now.
        :param timeout_seconds: Seconds for the request and its retries; None: the lab's bound, by its patience.
        """
        request = self._produce(
            partitions,
            as_ or "record",
            values,
            producer_id=producer_id,
            producer_epoch=epoch,
            base_sequence=sequence,
            transactional=transactional,
            timestamp_ms=timestamp_ms,
            keys=keys,
        )
        used = self.version("Produce") if version is None else version
        step = self.step_recorder.ask(
            partitions[0].leader,
            request,
            used,
            as_=as_,
            request=_batches(request),
            retry=retry,
            timeout_seconds=timeout_seconds,
        )
        if step.error == 0:
            self.state.use_sequences(request)
        return step

    def start_produce(
        self,
        *partitions: Partition,
        version: int | None = None,
        epoch: int | None = None,
        sequence: int | None = None,
        values: Sequence[str] = (),
    ) -> PendingRequest[ProduceResult]:
        """Send a Produce and go on; the answer is asked for later."""
        request = self._produce(partitions, "late", values, producer_epoch=epoch, base_sequence=sequence)
        used = self.version("Produce") if version is None else version
        pending = self.step_recorder.start(partitions[0].leader, request, used)
        return PendingRequest(self.step_recorder, pending, _batches(request))

    def end(
        self,
        *,
        commit: bool,
        as_: str | None = None,
        version: int | None = None,
        epoch: int | None = None,
        producer_id: int | None = None,
        transactional_id: str | None = None,
        node: int | None = None,
        retry: Collection[int] = RETRIABLE,
    ) -> Step:
        """EndTxn to the coordinator, or to ``node``; from version 5 on the answer's identity is taken over."""
        request = overridden(
            self.state.end_txn(commit=commit),
            producer_epoch=epoch,
            producer_id=producer_id,
            transactional_id=transactional_id,
        )
        used = self.version("EndTxn") if version is None else version
        asked = self.coordinator if node is None else node
        step = self.step_recorder.ask(asked, request, used, as_=as_, request=_fields(request), retry=retry)
        if step.error == 0:
            self.state.ended(step.answer_int("producer_id"), step.answer_int("producer_epoch"))
        return step

    def start_end(self, *, commit: bool, version: int | None = None) -> PendingRequest[ProducerIdAndEpoch]:
        """Send an EndTxn and go on; the answer is asked for later and changes nothing here."""
        request = self.state.end_txn(commit=commit)
        used = self.version("EndTxn") if version is None else version
        return PendingRequest(
            self.step_recorder, self.step_recorder.start(self.coordinator, request, used), _fields(request)
        )

    def _produce(
        self,
        partitions: Sequence[Partition],
        name: str,
        values: Sequence[str],
        **overrides: int | tuple[str, ...] | None,
    ) -> Produce:
        request = self.state.produce(
            {
                each.topic_partition: values or (self.step_recorder.notes.unique(f"{self.lane} {name}"),)
                for each in partitions
            },
            topic_ids={each.topic: each.topic_id for each in partitions},
        )
        batches = tuple(replace(part, batch=overridden(part.batch, **overrides)) for part in request.batches)
        return replace(request, batches=batches)


def _batches(request: Produce) -> dict[str, Json]:
    first = request.batches[0].batch
    return {
        "partitions": [f"{part.topic}-{part.partition}" for part in request.batches],
        "transactional": first.transactional,
        "producer_id": first.producer_id,
        "producer_epoch": first.producer_epoch,
        "base_sequence": first.base_sequence,
        "values": [value for part in request.batches for value in part.batch.values],
        **({} if first.timestamp_ms is None else {"timestamp_ms": first.timestamp_ms}),
    }


def _fields(request: EndTxn) -> dict[str, Json]:
    return {
        "transactional_id": request.transactional_id,
        "producer_id": request.producer_id,
        "producer_epoch": request.producer_epoch,
        "committed": request.committed,
    }
