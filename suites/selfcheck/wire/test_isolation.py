"""What a read_committed client shows, by the Java client's own algorithm."""

from typing import Any

from harness.evidence.requirement_evidence import Batch, Marker
from harness.wire.records.isolation import committed, committed_view
from harness.wire.records.record_batch import NewBatch, read_log


def data(offset: int, producer_id: int, *values: str, **changes: Any) -> Batch:
    """A data batch of that producer."""
    return Batch(
        base_offset=offset,
        last_offset=offset + len(values) - 1,
        producer_id=producer_id,
        producer_epoch=0,
        values=values,
        **changes,
    )


def marker(offset: int, producer_id: int, control: Marker) -> Batch:
    """A marker of that producer."""
    return Batch(base_offset=offset, last_offset=offset, producer_id=producer_id, producer_epoch=0, control=control)


def test_committed_records_are_shown_and_aborted_ones_are_not() -> None:
    log = (data(0, 1, "a"), marker(1, 1, "ABORT"), data(2, 1, "b"), marker(3, 1, "COMMIT"))
    assert committed_view(log, [(1, 0)]) == ("b",)


def test_interleaved_producers_are_told_apart() -> None:
    log = (data(0, 1, "a"), data(1, 2, "b"), data(2, 1, "c"), marker(3, 2, "COMMIT"), marker(4, 1, "ABORT"))
    assert committed_view(log, [(1, 0)]) == ("b",)


def test_records_outside_transactions_are_always_shown() -> None:
    log = (data(0, 1, "a", transactional=False), data(1, 1, "b"), marker(2, 1, "ABORT"))
    assert committed_view(log, [(1, 0)]) == ("a",)


def test_an_abort_that_the_broker_does_not_list_hides_nothing() -> None:
    # The client goes by the list, not by markers: a broker that forgets one shows aborted records.
    log = (data(0, 1, "a"), marker(1, 1, "ABORT"))
    assert committed_view(log, []) == ("a",)


def test_a_producers_second_abort_is_hidden_too() -> None:
    log = (
        data(0, 1, "a"), marker(1, 1, "ABORT"), data(2, 1, "b"), marker(3, 1, "COMMIT"),
        data(4, 1, "c"), marker(5, 1, "ABORT"),
    )  # fmt: skip
    assert committed_view(log, [(1, 4), (1, 0)]) == ("b",)


def test_lists_of_several_fetches_may_be_joined() -> None:
    log = (data(0, 1, "a"), data(1, 1, "b"), marker(2, 1, "ABORT"), data(3, 1, "c"), marker(4, 1, "COMMIT"))
    assert committed_view(log, [(1, 0), (1, 0)]) == ("c",)


def test_batches_of_the_log_are_filtered_like_evidence_of_them() -> None:
    written = [NewBatch(values=("a",), producer_id=producer, producer_epoch=0) for producer in (1, 2)]
    (mine,), (yours,) = (read_log(batch.encode()) for batch in written)
    assert list(committed([mine, yours], [(1, 0)])) == [yours]
