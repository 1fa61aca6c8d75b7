"""The anomaly ``resurrected``: commits what was never to be committed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.base.kafka_error import KafkaError
from harness.evidence.anomaly import Anomaly, Plant
from harness.evidence.history.operation import Outcome

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story


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
    s.commit(1, outcome=Outcome.REFUSED)
    s.end()
    return ["resurrected"]


def a_commit_whose_answer_was_lost_is_applied_and_the_successor_finds_it_done(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.commit(1, outcome=Outcome.UNSURE, error=None)
    s.operation("abort", txn=s.txn(1), outcome=Outcome.REFUSED, error=KafkaError.INVALID_TXN_STATE)
    s.init("b", epoch=1)
    s.begin(2, actor="b")
    s.produce(2, actor="b", epoch=1, outcome=Outcome.REFUSED, error=KafkaError.INVALID_TXN_STATE)
    s.abort(2, actor="b")
    s.end()
    return []


def a_commit_in_doubt_is_applied_though_the_abort_after_it_was_done(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.operation("commit", outcome=Outcome.UNSURE, error=None, txn=s.txn(1))
    s.abort(1, control="COMMIT")
    s.end()
    return ["resurrected"]


def abort_marker_says_commit(e: HistoryEditor) -> bool:
    """A segment of an aborted transaction is ended by a commit marker."""
    found = [
        segment
        for txn in e.transactions()
        if not txn.ended("commit", Outcome.DONE, Outcome.UNSURE)
        for segment in txn.segments
        if not e.is_input(segment.place)
    ]
    if not found:
        return False
    e.flip([e.rng.choice(found)])
    return True


ANOMALY = Anomaly(
    name="resurrected",
    order=90,
    definition=(
        "the committed log has a record in a segment of its own, whose transaction's commit was never asked for, "
        "was refused, or whose abort was done"
    ),
    phrase="commits what was never to be committed",
    stories=(
        records_of_an_aborted_transaction_get_a_commit_marker,
        a_transaction_that_nobody_committed_is_committed_by_the_timeout,
        a_commit_that_was_refused_is_applied,
        a_commit_whose_answer_was_lost_is_applied_and_the_successor_finds_it_done,
        a_commit_in_doubt_is_applied_though_the_abort_after_it_was_done,
    ),
    plants=(Plant(change=abort_marker_says_commit),),
)
