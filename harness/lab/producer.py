"""A raw transactional producer: every verb of the protocol, at any version, in any order, right or wrong.

It keeps what a client keeps (producer id, epoch, next sequence of each partition) and lets the stimulus override any of
it. Protocol 1 adds partitions itself and keeps its epoch (EndTxn ≤ 4, Produce ≤ 11); protocol 2 lets Produce add them
and takes the bumped epoch from EndTxn ≥ 5 (KIP-890, «New Clients»).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal

from harness.base.json_value import Json
from harness.evidence.requirement_evidence import Step
from harness.lab.group import Group
from harness.lab.partition import Partition
from harness.lab.step_recorder import BOUND, RETRIABLE, ResultT, StepRecorder, Unprepared
from harness.wire.records.record_batch import NewBatch
from harness.wire.requests.log.produce import PartitionBatch, Produce, ProduceResult
from harness.wire.requests.transactions.add_partitions_to_txn import AddPartitionsToTxn
from harness.wire.requests.transactions.end_txn import EndTxn, EndTxnResult
from harness.wire.requests.transactions.init_producer_id import InitProducerId
from harness.wire.requests.transactions.txn_offset_commit import TxnOffsetCommit
from harness.wire.wire_client import PendingResponse

HIGHEST_V1_VERSIONS = {"Produce": 11, "EndTxn": 4, "AddPartitionsToTxn": 3, "TxnOffsetCommit": 4}
"""Highest versions of a Transactions V1 client (Kafka 3.8, ``TransactionManager``)."""


@dataclass(frozen=True, slots=True)
class PendingRequest(Generic[ResultT]):
    """A request that was sent and whose answer is not asked for yet."""

    asker: StepRecorder
    pending: PendingResponse[ResultT]
    request: dict[str, Json]

    def answer(self, *, as_: str | None, within: float = BOUND) -> Step:
        """Wait for the answer and note it."""
        return self.asker.finish(self.pending, as_=as_, request=self.request, within=within)

    def done(self) -> bool:
        """Whether the answer has come already; nobody is made to wait."""
        return self.pending.done()


@dataclass(slots=True, kw_only=True)
class Producer:
    """A producer on one lane, initialised; see the module's docstring."""

    asker: StepRecorder
    transactional_id: str
    coordinator: int
    protocol: Literal[1, 2] = 1
    producer_id: int = -1
    epoch: int = -1
    _sequences: dict[tuple[str, int], int] = field(default_factory=dict)
    _added: set[str] = field(default_factory=set)

    @property
    def lane(self) -> str:
        """The name of the actor, which is the name of its lane."""
        return self.asker.actor

    def lane_to(self, node: int) -> str:
        """The proxy through which this producer reaches ``node``; :raises Unprepared: when there is none."""
        if proxy := self.asker.proxies.get(node):
            return proxy
        raise Unprepared(f"no proxy stands between the {self.lane} and broker {node}")

    def version(self, api: str, cap: int | None = None) -> int:
        """The highest version of ``api`` that this producer's protocol speaks and the broker offers."""
        limit = HIGHEST_V1_VERSIONS.get(api) if self.protocol == 1 else (12 if api == "Produce" else None)
        return self.asker.client.highest(self.coordinator, api, cap if cap is not None else limit)

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
        verb = InitProducerId(
            transactional_id=self.transactional_id,
            timeout_ms=timeout_ms,
            producer_id=identity[0],
            producer_epoch=identity[1],
        )
        said: dict[str, Json] = {"producer_id": identity[0], "producer_epoch": identity[1], "timeout_ms": timeout_ms}
        used = self.version("InitProducerId", 4) if version is None else version
        step = self.asker.ask(self.coordinator, verb, used, as_=as_, request=said, retry=retry)
        if adopt and step.error == 0:
            self.become(step.number("producer_id"), step.number("producer_epoch"))
        return step

    def become(self, producer_id: int, epoch: int) -> None:
        """Go on with this identity; sequences start at 0 again when it is a new one."""
        if (producer_id, epoch) != (self.producer_id, self.epoch):
            self._sequences.clear()
        self._added.clear()
        self.producer_id, self.epoch = producer_id, epoch

    def add(
        self,
        *partitions: Partition,
        as_: str | None = None,
        version: int | None = None,
        epoch: int | None = None,
        retry: Collection[int] = RETRIABLE,
    ) -> Step:
        """AddPartitionsToTxn (version 3 at most: 4 and later are spoken between brokers)."""
        verb = AddPartitionsToTxn(
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.epoch if epoch is None else epoch,
            partitions=tuple(partition.place for partition in partitions),
        )
        said: dict[str, Json] = {"producer_epoch": verb.producer_epoch, "partitions": [str(p) for p in partitions]}
        used = self.version("AddPartitionsToTxn", 3) if version is None else version
        step = self.asker.ask(self.coordinator, verb, used, as_=as_, request=said, retry=retry)
        if step.error == 0:
            self._added.update(map(str, partitions))
        return step

    def commit_offset(
        self,
        group: Group,
        partition: Partition,
        offset: int,
        *,
        as_: str | None = None,
        version: int | None = None,
        epoch: int | None = None,
        retry: Collection[int] = RETRIABLE,
    ) -> Step:
        """TxnOffsetCommit: valid once the transaction commits; from v5 on it adds the offsets partition itself."""
        verb = TxnOffsetCommit(
            transactional_id=self.transactional_id,
            group=group.name,
            producer_id=self.producer_id,
            producer_epoch=self.epoch if epoch is None else epoch,
            offsets={partition.place: offset},
        )
        said: dict[str, Json] = {"producer_epoch": verb.producer_epoch, "group": group.name, "offset": offset}
        used = self.version("TxnOffsetCommit") if version is None else version
        return self.asker.ask(group.offsets.leader, verb, used, as_=as_, request=said, retry=retry)

    def write(self, partition: Partition) -> Step:
        """One record into the open transaction, the way this producer's protocol does it."""
        if self.protocol == 1 and str(partition) not in self._added:
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
        transactional: bool = True,
        retry: Collection[int] = RETRIABLE,
        within: float = BOUND,
    ) -> Step:
        """One Produce request, a batch for each partition (all led by the same broker).

        Without ``transactional`` the batches lack that flag: no coordinator is asked, the leader alone decides.
        """
        verb, said = self._batches(partitions, as_, epoch, producer_id, sequence, values, transactional)
        used = self.version("Produce") if version is None else version
        node = partitions[0].leader
        step = self.asker.ask(node, verb, used, as_=as_, request=said, retry=retry, within=within)
        if step.error == 0:
            self._advance(verb)
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
        verb, said = self._batches(partitions, "late", epoch, None, sequence, values)
        used = self.version("Produce") if version is None else version
        return PendingRequest(self.asker, self.asker.start(partitions[0].leader, verb, used), said)

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
        """EndTxn; from version 5 on the answer's identity is taken over (KIP-890, END_TXN_RESPONSE)."""
        verb = self._ending(commit, epoch, producer_id, transactional_id)
        used = self.version("EndTxn") if version is None else version
        asked = self.coordinator if node is None else node
        step = self.asker.ask(asked, verb, used, as_=as_, request=_said(verb), retry=retry)
        if step.error == 0:
            self._ended(step)
        return step

    def start_end(self, *, commit: bool, version: int | None = None) -> PendingRequest[EndTxnResult]:
        """Send an EndTxn and go on; the answer is asked for later and changes nothing here."""
        verb = self._ending(commit, None, None, None)
        used = self.version("EndTxn") if version is None else version
        return PendingRequest(self.asker, self.asker.start(self.coordinator, verb, used), _said(verb))

    def _ending(self, commit: bool, epoch: int | None, producer_id: int | None, transactional_id: str | None) -> EndTxn:
        return EndTxn(
            transactional_id=self.transactional_id if transactional_id is None else transactional_id,
            producer_id=self.producer_id if producer_id is None else producer_id,
            producer_epoch=self.epoch if epoch is None else epoch,
            committed=commit,
        )

    def _ended(self, step: Step) -> None:
        self._added.clear()
        if step.version >= 5:
            self.become(step.number("producer_id"), step.number("producer_epoch"))

    def _batches(
        self,
        partitions: Sequence[Partition],
        name: str | None,
        epoch: int | None,
        producer_id: int | None,
        sequence: int | None,
        values: Sequence[str],
        transactional: bool = True,
    ) -> tuple[Produce, dict[str, Json]]:
        batches = tuple(
            self._batch(partition, name or "record", epoch, producer_id, sequence, values, transactional)
            for partition in partitions
        )
        verb = Produce(transactional_id=self.transactional_id, batches=batches)
        first = batches[0].batch
        said: dict[str, Json] = {
            "partitions": [str(partition) for partition in partitions],
            "transactional": transactional,
            "producer_id": first.producer_id,
            "producer_epoch": first.producer_epoch,
            "base_sequence": first.base_sequence,
            "values": [value for batch in batches for value in batch.batch.values],
        }
        return verb, said

    def _batch(
        self,
        partition: Partition,
        name: str,
        epoch: int | None,
        producer_id: int | None,
        sequence: int | None,
        values: Sequence[str],
        transactional: bool,
    ) -> PartitionBatch:
        batch = NewBatch(
            values=tuple(values) or (self.asker.notes.unique(f"{self.lane} {name}"),),
            producer_id=self.producer_id if producer_id is None else producer_id,
            producer_epoch=self.epoch if epoch is None else epoch,
            base_sequence=self._sequences.get(partition.place, 0) if sequence is None else sequence,
            transactional=transactional,
        )
        return PartitionBatch(
            topic=partition.topic, partition=partition.index, batch=batch, topic_id=partition.topic_id
        )

    def _advance(self, verb: Produce) -> None:
        for part in verb.batches:
            self._sequences[part.topic, part.partition] = part.batch.base_sequence + len(part.batch.values)


def _said(verb: EndTxn) -> dict[str, Json]:
    return {
        "transactional_id": verb.transactional_id,
        "producer_id": verb.producer_id,
        "producer_epoch": verb.producer_epoch,
        "committed": verb.committed,
    }
