"""The anomaly ``leaked-into-next``: lets records leak into the next transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.evidence.anomaly import Anomaly, Plant
from harness.evidence.history.operation import Outcome

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.histories.model_transactions import ModelTransaction, Segment
    from suites.selfcheck.fixtures.stories.story import Story


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
    s.late_produce(1)
    s.whole(2)
    s.end()
    return ["leaked-into-next"]


def _same_producer(earlier: ModelTransaction, segment: Segment) -> bool:
    return any(one.producer_id == segment.producer_id for one in earlier.segments)


def _over_before(earlier: ModelTransaction, later: ModelTransaction) -> bool:
    """Whether the one's last operation was over when the other's first began."""
    return max(end.number for end in earlier.ends) < min(one.number for one in later.produces)


def aborted_record_in_a_later_segment(e: HistoryEditor) -> bool:
    """A late request of an aborted transaction lands in a later transaction of the same producer, and is committed."""
    transactions = e.transactions()
    found = [
        (segment, produce)
        for later in transactions
        if later.sound
        for segment in later.segments
        for earlier in transactions
        if earlier.txn < later.txn and earlier.ended("abort", Outcome.DONE) and _over_before(earlier, later)
        for produce in earlier.produces
        if produce.outcome is not Outcome.REFUSED and (produce.topic, produce.partition) == segment.place
        if not e.is_input(segment.place) and _same_producer(earlier, segment)
    ]
    if not found:
        return False
    segment, produce = e.rng.choice(found)
    offsets = [record.offset for record in segment.records]
    at = e.rng.choice((*offsets, segment.marker.offset))
    e.insert(replace(segment.records[-1], offset=at, batch_offset=at, value=e.written_value(produce)))
    e.history.read_again()
    return True


ANOMALY = Anomaly(
    name="leaked-into-next",
    order=80,
    definition=(
        "the committed log has a record in a segment that belongs to another transaction, or in a second segment "
        "of its own transaction on that partition (the one that ends later)"
    ),
    phrase="lets records leak into the next transaction",
    stories=(
        a_marker_is_lost_and_the_next_transaction_commits_both,
        a_late_produce_is_committed_by_the_next_transaction,
    ),
    plants=(Plant(change=aborted_record_in_a_later_segment),),
)
