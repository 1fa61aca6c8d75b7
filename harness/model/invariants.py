"""What must be so in every state of the model: the promises of transactions, and not how they are kept."""

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from harness.model.model_requests import ModelAnswer, PartitionWrite
from harness.model.model_state import NONE, KeptOffset, ModelCluster, PartitionLog


class Intended(Struct, frozen=True):
    """What applications know.

    :param committed: Transactions whose commit a coordinator took.
    :param acknowledged: Records that a leader acknowledged while their writer waited.
    :param identities: Producer ids with the epochs that new instances were given last.
    :param broken: Promises that an event broke: what a fenced producer wrote, an identity that was given twice.
    :param readable: Committed records that consumers may have read, and that are no longer looked up in a log.
    """

    committed: frozenset[str] = frozenset()
    acknowledged: frozenset[str] = frozenset()
    identities: frozenset[tuple[int, int]] = frozenset()
    broken: frozenset[str] = frozenset()
    readable: frozenset[str] = frozenset()

    def with_identity(self, given: ModelAnswer) -> "Intended":
        """After a new instance was given an identity; an epoch that is not newer was given already."""
        identity = (given.producer_id, given.epoch)
        older = {each for each in self.identities if each[0] == given.producer_id}
        twice = {f"identity is given twice: {identity}"} if any(epoch >= given.epoch for _, epoch in older) else set()
        return replace(self, identities=self.identities - older | {identity}, broken=self.broken | twice)

    def with_record(self, written: PartitionWrite) -> "Intended":
        """After a write was appended."""
        newer = any(id_ == written.producer_id and epoch > written.epoch for id_, epoch in self.identities)
        late = {f"fenced producer wrote: {written.value} in {written.partition}"} if newer else set()
        return replace(self, broken=self.broken | late)

    def with_acknowledged(self, value: str) -> "Intended":
        """After a writer heard that its record is kept."""
        return replace(self, acknowledged=self.acknowledged | {value})


def broken_anywhere(cluster: ModelCluster, intended: Intended) -> Iterator[str]:
    """What no state may show: a readable record or offset that was not committed, or a record twice.

    An offset may be written twice: it says the same again.
    """
    yield from sorted(intended.broken)
    for partition, log in cluster.logs.items():
        readable = Counter(committed_values(log))
        for value, times in readable.items():
            if transaction_of(value) not in intended.committed:
                yield f"aborted record is readable: {value} in {partition}"
            if (times > 1 or value in intended.readable) and partition not in cluster.groups:
                yield f"record is readable twice: {value} in {partition}"
    for name, group in cluster.groups.items():
        if (
            group.committed
            and transaction_of(value := _value_of(cluster, name, group.committed)) not in intended.committed
        ):
            yield f"offset of an aborted transaction is shown: {value}"


def broken_at_rest(cluster: ModelCluster, intended: Intended) -> Iterator[str]:
    """What no state may show in which brokers have nothing left to do, and every client is silent from then on."""
    for partition, log in cluster.logs.items():
        if log.last_stable_offset < len(log.entries):
            yield f"transaction never ends: the last stable offset of {partition} stays at {log.last_stable_offset}"
    readable = {value for log in cluster.logs.values() for value in committed_values(log)}
    for value in sorted(intended.acknowledged - readable - intended.readable):
        if transaction_of(value) in intended.committed:
            yield f"committed record is lost: {value}"
    yield from _groups_at_rest(cluster, intended)


def _groups_at_rest(cluster: ModelCluster, intended: Intended) -> Iterator[str]:
    """A group shows the newest offset that was committed, and has none pending."""
    for name, group in cluster.groups.items():
        for pending in group.pending.values():
            yield f"offset is unstable for ever: {_value_of(cluster, name, pending)}"
        newest = NONE if group.committed is None else group.committed.at
        for entry in cluster.log(name).entries[newest + 1 :]:
            if entry.value in intended.acknowledged and transaction_of(entry.value) in intended.committed:
                yield f"committed offset is lost: {entry.value}"


def _value_of(cluster: ModelCluster, name: str, offset: KeptOffset) -> str:
    return cluster.log(name).entries[offset.at].value


def committed_values(log: PartitionLog) -> list[str]:
    """What a read_committed consumer reads, up to the last stable offset."""
    readable = list[str]()
    for end, marker in enumerate(log.entries):
        if marker.marker and end < log.last_stable_offset:
            readable += _ended_by(log, marker.producer_id, end)
    return readable


def _ended_by(log: PartitionLog, producer_id: int, end: int) -> list[str]:
    """The records of the producer between its marker before and this one."""
    mine = [entry for entry in log.entries[:end] if entry.producer_id == producer_id]
    since = max((at for at, entry in enumerate(mine) if entry.marker is not None), default=-1)
    return [entry.value for entry in mine[since + 1 :]]


def transaction_of(value: str) -> str:
    """The transaction that a record was written for."""
    return value.rpartition(".")[0]
