"""Requests in flight: sequences are kept, what failed is sent again in order, and nothing overtakes it."""

import time

from harness.base.kafka_error import KafkaError
from harness.clients.pipelined.outgoing_batches import OutgoingBatch, OutgoingBatches, in_batches
from harness.evidence.history.operation import Outcome
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_errors import NoAnswer

ONE: TopicPartition = ("t", 0)
OTHER: TopicPartition = ("t", 1)
ORDER = KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER
LATER = 3_600.0


def of_one(records: int, most: int = 2, first: int = 10) -> OutgoingBatches:
    """Records of one partition, in batches of two."""
    return in_batches([(ONE, str(each)) for each in range(records)], {ONE: first}, most)[0]


def sent(outgoing: OutgoingBatches, now: float | None = None) -> list[OutgoingBatch]:
    """All that may go now, taken."""
    taken: list[OutgoingBatch] = []
    while ready := list(outgoing.ready(time.monotonic() + LATER if now is None else now)):
        for batch in ready:
            outgoing.take(batch)
        taken += ready
    return taken


def outcomes(*batches: OutgoingBatch) -> list[Outcome | None]:
    return [batch.result.outcome if batch.result else None for batch in batches]


def test_records_are_batched_by_partition_in_their_order() -> None:
    records = [(ONE, "a"), (OTHER, "b"), (ONE, "c"), (ONE, "d")]
    outgoing, every = in_batches(records, {ONE: 5}, 2)
    assert [(batch.partition, list(batch.values), list(batch.places)) for batch in every] == [
        (ONE, ["a", "c"], [0, 2]),
        (OTHER, ["b"], [1]),
        (ONE, ["d"], [3]),
    ]
    assert {(batch.values[0], batch.sequence) for batch in sent(outgoing)} == {("a", 5), ("b", 0), ("d", 7)}


def test_batches_in_flight_follow_each_other_and_all_are_done() -> None:
    outgoing = of_one(5)
    first, second, third = sent(outgoing)
    assert (first.sequence, second.sequence, third.sequence) == (10, 12, 14)
    for batch, offset in ((first, 100), (second, 102), (third, 104)):
        assert not outgoing.over
        outgoing.answered(batch, 0, offset)
    assert outgoing.over
    assert not outgoing.broken
    assert outgoing.sequences == {ONE: 15}
    assert [batch.offset for batch in (first, second, third)] == [100, 102, 104]


def test_after_a_lost_answer_all_are_sent_again_one_by_one_with_their_sequences() -> None:
    outgoing = of_one(6)
    first, second, third = sent(outgoing)
    outgoing.unanswered(first, NoAnswer("no answer"))
    outgoing.answered(second, ORDER, -1)
    outgoing.answered(third, ORDER, -1)
    assert sent(outgoing) == [first]
    assert (first.sequence, first.tries.doubt, second.tries.doubt) == (10, True, False)
    outgoing.answered(first, 0, 100)
    assert sent(outgoing) == [second]
    outgoing.answered(second, 0, 102)
    assert sent(outgoing) == [third]
    outgoing.answered(third, 0, 104)
    assert outgoing.over
    assert outcomes(first, second, third) == [Outcome.DONE] * 3
    assert [batch.tries.sent for batch in (first, second, third)] == [2, 2, 2]


def test_what_was_not_sent_waits_behind_what_is_sent_again() -> None:
    outgoing = of_one(4)
    (first,) = outgoing.ready(0.0)
    outgoing.take(first)
    outgoing.answered(first, KafkaError.CONCURRENT_TRANSACTIONS, -1)
    before = first.not_before - 0.01
    assert list(outgoing.ready(before)) == []
    moment = outgoing.next_moment(before)
    assert moment is not None
    assert outgoing.next_moment(moment) is None
    assert [batch.sequence for batch in sent(outgoing)] == [10, 12]


def test_out_of_order_passes_only_while_a_batch_before_it_is_undecided() -> None:
    outgoing = of_one(4)
    first, second = sent(outgoing)
    outgoing.answered(first, 0, 100)
    outgoing.answered(second, ORDER, -1)
    assert outcomes(first, second) == [Outcome.DONE, Outcome.REFUSED]
    assert outgoing.broken
    assert outgoing.over


def test_a_refusal_ends_what_was_not_sent_and_leaves_what_is_in_flight_to_its_own_answer() -> None:
    outgoing = of_one(6)
    (first,) = outgoing.ready(0.0)
    outgoing.take(first)
    (second,) = outgoing.ready(0.0)
    outgoing.take(second)
    outgoing.answered(first, KafkaError.INVALID_TXN_STATE, -1)
    assert sent(outgoing) == []
    assert outcomes(second) == [None]
    outgoing.answered(second, ORDER, -1)
    assert outgoing.over
    assert outcomes(first, second) == [Outcome.REFUSED] * 2
    assert [batch.places[0] for batch in outgoing.left()] == [4]


def test_what_is_given_up_in_flight_is_unsure_only_where_a_try_may_have_been_written() -> None:
    outgoing = of_one(6)
    first, second, third = sent(outgoing)
    outgoing.unanswered(first, NoAnswer("no answer"))
    outgoing.answered(second, ORDER, -1)
    outgoing.give_up()
    assert outcomes(first, second, third) == [Outcome.UNSURE, Outcome.REFUSED, Outcome.UNSURE]
    assert (third.result.tries if third.result else 0) == 1
    outgoing.answered(third, 0, 7)
    assert outcomes(third) == [Outcome.UNSURE]


def test_partitions_do_not_wait_for_each_other() -> None:
    outgoing, _ = in_batches([(ONE, "a"), (OTHER, "b"), (OTHER, "c")], {}, 1)
    first, second, third = sent(outgoing)
    outgoing.unanswered(first, NoAnswer("no answer"))
    outgoing.answered(second, 0, 1)
    outgoing.answered(third, 0, 2)
    assert outcomes(first, second, third) == [None, Outcome.DONE, Outcome.DONE]
    assert sent(outgoing) == [first]
