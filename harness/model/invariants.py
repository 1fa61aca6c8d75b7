"""What must be so in every state of the model: the promises of transactions, and not how they are kept."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from harness.model.model_requests import ModelAnswer, PartitionWrite
from harness.model.model_state import NONE, KeptOffset, ModelCluster, PartitionLog


@dataclass(frozen=True, slots=True)
class Intended:
    """What applications know.

    :param committed: Transactions whose commit a coordinator took.
    :param acknowledged: Records that a leader acknowledged while their writer waited.
    :param identities: Producer ids and epochs that new instances were given.
    :param broken: Promises that an event broke: what a fenced producer wrote, an identity that was given twice.
    """

    committed: frozenset[str] = frozenset()
    acknowledged: frozenset[str] = frozenset()
    identities: frozenset[tuple[int, int]] = frozenset()
    broken: frozenset[str] = frozenset()

    def with_identity(self, given: ModelAnswer) -> "Intended":
        """After a new instance was given an identity."""
        identity = (given.producer_id, given.epoch)
        twice = {f"identity is given twice: {identity}"} if identity in self.identities else set()
        return replace(self, identities=self.identities | {identity}, broken=self.broken | twice)

    def with_record(self, written: PartitionWrite, *, appended: bool, acknowledged: bool) -> "Intended":
        """After a write was accepted; ``appended`` unless it was a repetition."""
        newer = any(id_ == written.producer_id and epoch > written.epoch for id_, epoch in self.identities)
        late = {f"fenced producer wrote: {written.value} in {written.partition}"} if appended and newer else set()
        known = self.acknowledged | ({written.value} if acknowledged else set())
        return replace(self, acknowledged=known, broken=self.broken | late)


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
            if times > 1 and partition not in cluster.groups:
                yield f"record is readable twice: {value} in {partition}"
    for name, group in cluster.groups.items():
        if (
            group.committed
            and transaction_of(value := _value_of(cluster, name, group.committed)) not in intended.committed
        ):
            yield f"offset of an aborted transaction is shown: {value}"


def broken_at_rest(cluster: ModelCluster, intended: Intended) -> Iterator[str]:
    """What no state may show in which nothing is under way, and every client is silent."""
    for partition, log in cluster.logs.items():
        if log.last_stable_offset < len(log.entries):
            yield f"transaction never ends: the last stable offset of {partition} stays at {log.last_stable_offset}"
    readable = {value for log in cluster.logs.values() for value in committed_values(log)}
    for value in sorted(intended.acknowledged - readable):
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
