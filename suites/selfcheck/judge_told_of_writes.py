"""Stories of what was written: each tells the judge of one anomaly, or of something legal that looks like one.

A story's function returns the anomalies that are to be named, and its name says what happens.
"""

from collections.abc import Sequence

from harness.history.operation import Level, OpenProducer
from suites.selfcheck.judge_stories import REFUSED, UNSURE, Story, told_in


def records_of_an_aborted_transaction_get_a_commit_marker(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.abort(1, control="COMMIT")
    s.end()
    return ["resurrected"]


def a_transaction_that_nobody_committed_is_committed_by_the_timeout(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.marker("COMMIT")
    s.end()
    return ["resurrected"]


def a_commit_that_was_refused_is_applied(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.commit(1, outcome=REFUSED)
    s.end()
    return ["resurrected"]


def a_timeout_aborts_what_nobody_ended(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.marker("ABORT", epoch=1)
    s.end()
    return []


def a_commit_whose_answer_was_lost_is_applied_and_the_successor_finds_it_done(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.commit(1, outcome=UNSURE, error=None)
    s.operation("abort", txn=s.txn(1), outcome=REFUSED, error=48)
    s.init("b", epoch=1)
    s.begin(2, actor="b")
    s.produce(2, actor="b", epoch=1, outcome=REFUSED, error=48)
    s.abort(2, actor="b")
    s.end()
    return []


def a_commit_whose_request_was_lost_is_aborted_by_the_successor(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1, 2)
    s.produce(1, 0, size=2)
    s.produce(1, 1, size=2, at=1)
    s.commit(1, outcome=UNSURE, error=None, control=None)
    s.init("b", epoch=1)
    s.marker("ABORT", 0, 1, epoch=1)
    s.whole(2, 0, 1, actor="b")
    s.end()
    return []


def a_commit_in_doubt_is_applied_though_the_abort_after_it_was_done(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.operation("commit", outcome=UNSURE, error=None, txn=s.txn(1))
    s.abort(1, control="COMMIT")
    s.end()
    return ["resurrected"]


def an_unsure_commit_is_applied_on_one_partition_only(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1, 2)
    s.produce(1, 0, size=2)
    s.produce(1, 1, size=2, at=1)
    s.commit(1, outcome=UNSURE, error=None)
    s.marker("ABORT", 1)
    s.end()
    return ["torn-transaction"]


def an_unsure_produce_may_be_there_or_not(s: Story) -> Sequence[str]:
    s.init()
    for txn, there in ((1, True), (2, False)):
        s.begin(txn, 2)
        s.produce(txn, 0, size=2, payload="money:a:-5")
        s.produce(txn, 1, size=2, payload="money:b:+5", outcome=UNSURE, error=None, log=there)
        s.commit(txn)
    s.end()
    return []


def a_promised_record_is_lost(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1, 2)
    s.produce(1, 0, size=2)
    s.produce(1, 1, size=2, at=1, log=False)
    s.commit(1)
    s.whole(2, 0, 1)
    s.end()
    return ["torn-transaction"]


def all_promised_records_are_aborted(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.commit(1, control="ABORT")
    s.end()
    return ["lost-commit"]


def a_marker_is_lost_and_the_next_transaction_commits_both(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.abort(1, control=None)
    s.whole(2)
    s.end()
    return ["leaked-into-next"]


def a_late_produce_is_committed_by_the_next_transaction(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1, 2)
    s.produce(1, 0, size=2)
    s.operation("produce", outcome=UNSURE, txn=s.txn(1), ordinal=1, size=2, payload="", topic=s.topic, partition=0)
    s.abort(1)
    s.append(s.value(1, 1, 2))
    s.whole(2)
    s.end()
    return ["leaked-into-next"]


def a_late_produce_hangs_and_holds_up_the_readers(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1, 2)
    s.produce(1, 0, size=2)
    s.operation("produce", outcome=UNSURE, txn=s.txn(1), ordinal=1, size=2, payload="", topic=s.topic, partition=0)
    s.abort(1)
    s.append(s.value(1, 1, 2))
    s.tell(
        *(Level(at=at, topic=s.topic, partition=0, high_watermark=3, last_stable_offset=2) for at in (5e9, 6e9)),
        OpenProducer(
            topic=s.topic,
            partition=0,
            producer_id=s.pid(),
            epoch=0,
            transaction_start_offset=2,
            last_timestamp_ms=0,
        ),
    )
    s.end()
    return ["hanging-transaction", "stuck-lso"]


def a_leader_keeps_a_transaction_that_the_log_does_not_have(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.tell(
        OpenProducer(
            topic=s.topic, partition=0, producer_id=s.pid(), epoch=0, transaction_start_offset=2, last_timestamp_ms=0
        )
    )
    s.end()
    return ["hanging-transaction"]


def a_write_that_was_refused_for_another_reason_is_there(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1, 2)
    s.produce(1, 0, size=2)
    s.produce(1, 1, size=2, outcome=REFUSED, error=10, log=True)
    s.commit(1)
    s.end()
    return ["refused-but-visible"]


def a_retry_is_appended_twice(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.append(s.value(1))
    s.commit(1)
    s.end()
    return ["duplicate"]


def a_retry_is_appended_twice_and_both_are_aborted(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.append(s.value(1))
    s.abort(1)
    s.end()
    return []


def two_records_change_places(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1, 2)
    s.produce(1, 0, size=2)
    s.produce(1, 1, size=2)
    s.commit(1)
    first, second = (row.value for row in s.events["log"][:2])
    s.change("log", 0, value=second)
    s.change("log", 1, value=first)
    s.end()
    return ["reordered"]


def transactions_are_numbered_against_their_order(s: Story) -> Sequence[str]:
    s.init()
    for txn in (5, 3, 8, 1):
        s.whole(txn, 0, 0)
    s.end()
    return []


def transactions_numbered_against_their_order_change_places(s: Story) -> Sequence[str]:
    s.init()
    s.whole(5)
    s.whole(3)
    first, second = s.events["log"][0].value, s.events["log"][2].value
    s.change("log", 0, value=second)
    s.change("log", 2, value=first)
    s.end()
    return ["reordered"]


def a_record_says_something_else(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1, payload="right")
    s.commit(1)
    s.change("log", 0, value=s.value(1, payload="wrong"))
    s.end()
    return ["altered-record"]


def a_record_that_nobody_wrote(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.append(s.value(77))
    s.commit(1)
    s.end()
    return ["unknown-record"]


def a_record_of_somebody_else(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.append("hello")
    s.commit(1)
    s.end()
    return ["unknown-record"]


def half_a_transfer_was_never_written(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1, 2)
    s.produce(1, 0, size=2, payload="money:a:-5")
    s.commit(1)
    s.end()
    return ["broken-sum"]


def half_a_transfer_is_lost(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1, 2)
    s.produce(1, 0, size=2, payload="money:a:-5")
    s.produce(1, 1, size=2, payload="money:b:+5", log=False)
    s.commit(1)
    s.end()
    return ["torn-transaction"]


STORIES = told_in(globals())
"""Every story of this module."""
