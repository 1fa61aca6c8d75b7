"""What a read_committed client shows of a log, given the batches and the list of aborted transactions.

The algorithm is the Java client's (``CompletedFetch.nextFetchedRecord``, KIP-98): the broker sends the log up to the
last stable offset and lists the transactions in it that were aborted; leaving their records out is the client's work.
"""

from collections.abc import Iterable, Iterator

from harness.wire.records.record_batch import LogBatch, Record


def committed_records(batches: Iterable[LogBatch], aborted: Iterable[tuple[int, int]]) -> Iterator[Record]:
    """The records that an application sees, in log order.

    :param batches: The log as a read_committed Fetch gave it (nothing at or above the last stable offset).
    :param aborted: ``(producer id, first offset)`` of each aborted transaction; repeats do no harm, so the lists of
        several fetches may simply be joined.
    """
    waiting = sorted(set(aborted), key=lambda transaction: transaction[1], reverse=True)
    aborting: set[int] = set()
    for batch in batches:
        while waiting and waiting[-1][1] <= batch.last_offset:
            aborting.add(waiting.pop()[0])
        if batch.control == "ABORT":
            aborting.discard(batch.producer_id)
        elif not (batch.is_control or (batch.transactional and batch.producer_id in aborting)):
            yield from batch.records
