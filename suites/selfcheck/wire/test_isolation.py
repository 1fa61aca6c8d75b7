"""What a read_committed client shows, by the Java client's own algorithm."""

from collections.abc import Sequence
from dataclasses import replace

from harness.wire.records.isolation import committed_records
from harness.wire.records.record_batch import CONTROL, LogBatch, NewBatch, read_log, text

ABORT, COMMIT = 0, 1


def data(offset: int, producer_id: int, *values: str, transactional: bool = True) -> LogBatch:
    """A data batch of that producer."""
    sent = NewBatch(values=values, producer_id=producer_id, producer_epoch=0, transactional=transactional)
    (batch,) = read_log(sent.encode())
    return replace(batch, base_offset=offset, last_offset=offset + len(values) - 1)


def marker(offset: int, producer_id: int, control: int) -> LogBatch:
    """A marker of that producer (Kafka's ``EndTransactionMarker``)."""
    batch = data(offset, producer_id, "")
    record = replace(batch.records[0], key=bytes([0, 0, 0, control]), value=bytes(6))
    return replace(batch, attributes=batch.attributes | CONTROL, records=(record,))


def shown(log: Sequence[LogBatch], aborted: Sequence[tuple[int, int]]) -> list[str]:
    """The values that an application sees."""
    return [text(record.value) for record in committed_records(log, aborted)]


def test_committed_records_are_shown_and_aborted_ones_are_not() -> None:
    log = (data(0, 1, "a"), marker(1, 1, ABORT), data(2, 1, "b"), marker(3, 1, COMMIT))
    assert shown(log, [(1, 0)]) == ["b"]


def test_interleaved_producers_are_distinguished() -> None:
    log = (data(0, 1, "a"), data(1, 2, "b"), data(2, 1, "c"), marker(3, 2, COMMIT), marker(4, 1, ABORT))
    assert shown(log, [(1, 0)]) == ["b"]


def test_records_outside_transactions_are_always_shown() -> None:
    log = (data(0, 1, "a", transactional=False), data(1, 1, "b"), marker(2, 1, ABORT))
    assert shown(log, [(1, 0)]) == ["a"]


def test_an_abort_that_the_broker_does_not_list_hides_nothing() -> None:
    # The client goes by the list, not by markers: a broker that forgets one shows aborted records.
    log = (data(0, 1, "a"), marker(1, 1, ABORT))
    assert shown(log, []) == ["a"]


def test_a_producers_second_abort_is_hidden_too() -> None:
    log = (
        data(0, 1, "a"), marker(1, 1, ABORT), data(2, 1, "b"), marker(3, 1, COMMIT),
        data(4, 1, "c"), marker(5, 1, ABORT),
    )  # fmt: skip
    assert shown(log, [(1, 4), (1, 0)]) == ["b"]


def test_lists_of_several_fetches_may_be_joined() -> None:
    log = (data(0, 1, "a"), data(1, 1, "b"), marker(2, 1, ABORT), data(3, 1, "c"), marker(4, 1, COMMIT))
    assert shown(log, [(1, 0), (1, 0)]) == ["c"]


def test_of_a_batch_of_several_records_all_are_shown_or_none() -> None:
    log = (data(0, 1, "a", "b"), data(2, 2, "c", "d"), marker(4, 1, ABORT), marker(5, 2, COMMIT))
    assert shown(log, [(1, 0)]) == ["c", "d"]
