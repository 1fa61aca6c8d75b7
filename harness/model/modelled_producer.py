"""A producer of the model, as an application drives one: what it sends next, and what an answer makes of it.

It begins with InitProducerId, then runs transactions of one record on each of its partitions, which for the group's is
an offset. When a write is not
answered it may give up, and abort; it may also stop for good at any time. What it sent then is still under way.
"""

from enum import Enum

from msgspec import Struct, field
from msgspec.structs import replace

from harness.model.frozen_map import FrozenMap
from harness.model.model_requests import (
    AddOffsetsAsked,
    AddPartitionsAsked,
    EndTxnAsked,
    InitProducerIdAsked,
    ModelAnswer,
    ModelRequest,
    PartitionWrite,
    ProduceAsked,
    TxnOffsetCommitAsked,
)
from harness.model.model_state import GROUP, NONE
from harness.model.protocol_profile import NEW_PROTOCOL_OFFSETS, NEW_PROTOCOL_PRODUCE

ASK_AGAIN = frozenset({"CONCURRENT_TRANSACTIONS", "NOT_ENOUGH_REPLICAS"})
"""Codes after which the same request is sent again."""


class ClientPhase(Enum):
    """What the application does next."""

    STARTING = "starts"
    WRITING = "writes"
    COMMITTING = "commits"
    ABORTING = "aborts"
    STOPPED = "stopped"


class ModelledProducer(Struct, frozen=True, kw_only=True):
    """One instance of an application.

    :param name: Of the instance; its records carry it. :param id: The transactional id.
    :param new_protocol: Whether it speaks transactions of version 2.
    :param transactions: How many it still begins.
    :param number: Of the transaction that is open.
    :param written: Partitions of this transaction with an acknowledged record; :param added: told to the coordinator.
    :param sequences: The next one, by partition.
    :param waiting: What it has sent and waits for.
    """

    name: str
    id: str
    new_protocol: bool
    partitions: tuple[str, ...]
    transactions: int
    phase: ClientPhase = ClientPhase.STARTING
    producer_id: int = NONE
    epoch: int = NONE
    number: int = 0
    added: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    sequences: FrozenMap[str, int] = field(default_factory=FrozenMap)
    waiting: ModelRequest | None = None

    @property
    def transaction(self) -> str:
        """The name of the open one; records of it begin with that."""
        return f"{self.name}.{self.number}"

    @property
    def may_give_up(self) -> bool:
        """Whether it may stop to wait for a write, and abort."""
        return isinstance(self.waiting, PartitionWrite)

    def next_request(self) -> ModelRequest | None:
        """What it sends now; None when it waits or is done."""
        if self.waiting is not None:
            return None
        match self.phase:
            case ClientPhase.STARTING:
                return InitProducerIdAsked(id=self.id, version=4)
            case ClientPhase.WRITING:
                return self._write()
            case ClientPhase.COMMITTING | ClientPhase.ABORTING:
                return EndTxnAsked(
                    id=self.id,
                    version=5 if self.new_protocol else 3,
                    producer_id=self.producer_id,
                    epoch=self.epoch,
                    commit=self.phase is ClientPhase.COMMITTING,
                )
            case ClientPhase.STOPPED:
                return None

    def _write(self) -> ModelRequest:
        """To the first partition that has no record yet; an old client adds it first."""
        partition = next(each for each in self.partitions if each not in self.written)
        if partition == GROUP:
            return self._offsets()
        if not self.new_protocol and partition not in self.added:
            return AddPartitionsAsked(
                id=self.id,
                version=3,
                producer_id=self.producer_id,
                epoch=self.epoch,
                partitions=frozenset({partition}),
            )
        return ProduceAsked(
            id=self.id,
            version=NEW_PROTOCOL_PRODUCE if self.new_protocol else 11,
            partition=partition,
            producer_id=self.producer_id,
            epoch=self.epoch,
            sequence=self.sequences.get(partition, 0),
            value=f"{self.transaction}.{partition}",
        )

    def _offsets(self) -> ModelRequest:
        identity = {"id": self.id, "producer_id": self.producer_id, "epoch": self.epoch}
        if not self.new_protocol and GROUP not in self.added:
            return AddOffsetsAsked(version=3, **identity)  # type: ignore[arg-type]
        version, value = NEW_PROTOCOL_OFFSETS if self.new_protocol else 3, f"{self.transaction}.{GROUP}"
        return TxnOffsetCommitAsked(version=version, offset=self.number, value=value, **identity)  # type: ignore[arg-type]

    def sent(self) -> "ModelledProducer":
        """It waits for the answer to what it sends next."""
        return replace(self, waiting=self.next_request())

    def gave_up(self) -> "ModelledProducer":
        """It waits no more for a write, and aborts."""
        return replace(self, waiting=None, phase=ClientPhase.ABORTING)

    def stopped(self) -> "ModelledProducer":
        """It does nothing more, whatever is answered."""
        return replace(self, waiting=None, phase=ClientPhase.STOPPED)

    def answered(self, answer: ModelAnswer) -> "ModelledProducer":
        """After the answer to what it waits for."""
        asked, free = self.waiting, replace(self, waiting=None)
        if answer.error in ASK_AGAIN:
            return free
        if not answer.accepted:
            return free.stopped()
        match asked:
            case InitProducerIdAsked():
                return replace(free, producer_id=answer.producer_id, epoch=answer.epoch)._after_transaction()
            case AddPartitionsAsked():
                return replace(free, added=free.added | asked.partitions)
            case AddOffsetsAsked():
                return replace(free, added=free.added | {asked.group})
            case ProduceAsked() | TxnOffsetCommitAsked():
                return free._acknowledged(asked)
            case _:
                epoch = free.epoch if answer.epoch == NONE else answer.epoch
                bumped = replace(free, epoch=epoch, sequences=free.sequences if epoch == free.epoch else FrozenMap())
                return replace(bumped, number=free.number + 1)._after_transaction()

    def _acknowledged(self, asked: PartitionWrite) -> "ModelledProducer":
        written = self.written | {asked.partition}
        phase = ClientPhase.COMMITTING if written >= frozenset(self.partitions) else ClientPhase.WRITING
        sequences = self.sequences.put(asked.partition, asked.sequence + 1)
        return replace(self, written=written, sequences=sequences, phase=phase)

    def _after_transaction(self) -> "ModelledProducer":
        left = self.transactions
        clear = replace(self, added=frozenset(), written=frozenset(), transactions=max(0, left - 1))
        return replace(clear, phase=ClientPhase.WRITING if left else ClientPhase.STOPPED)
