"""What a read_committed client shows of a log, given the batches and the list of aborted transactions.

The algorithm is the Java client's (``CompletedFetch.nextFetchedRecord``, KIP-98): the broker sends the log up to the
last stable offset and tells which transactions in it were aborted; leaving their records out is the client's work.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from harness.evidence.requirement_evidence import Batch, Marker


class Isolated(Protocol):
    """What must be known of a batch; a ``LogBatch`` of the wire and a ``Batch`` of the evidence both have it."""

    @property
    def last_offset(self) -> int:
        """Offset of its last record."""
        ...

    @property
    def producer_id(self) -> int:
        """Who wrote it."""
        ...

    @property
    def transactional(self) -> bool:
        """Whether it belongs to a transaction."""
        ...

    @property
    def control(self) -> Marker | None:
        """The marker that it is, if it is one."""
        ...


IsolatedT = TypeVar("IsolatedT", bound=Isolated)


def committed_view(batches: Sequence[Batch], aborted: Iterable[tuple[int, int]]) -> tuple[str, ...]:
    """The values that an application sees, in log order.

    :param batches: The log as a read_committed Fetch gave it (nothing at or above the last stable offset).
    :param aborted: ``(producer id, first offset)`` of each aborted transaction; repeats do no harm, so the lists of
        several fetches may simply be joined.
    """
    return tuple(value for batch in committed(batches, aborted) for value in batch.values)


def committed(batches: Iterable[IsolatedT], aborted: Iterable[tuple[int, int]]) -> Iterator[IsolatedT]:
    """The batches that are not of an aborted transaction, in log order; parameters as :func:`committed_view` has them.

    Control batches other than abort markers are among them: they have nothing for an application.
    """
    waiting = sorted(set(aborted), key=lambda transaction: transaction[1], reverse=True)
    aborting: set[int] = set()
    for batch in batches:
        while waiting and waiting[-1][1] <= batch.last_offset:
            aborting.add(waiting.pop()[0])
        if batch.control == "ABORT":
            aborting.discard(batch.producer_id)
        elif not (batch.transactional and batch.producer_id in aborting):
            yield batch
