"""The anomaly ``lost-commit``: loses committed transactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.evidence.anomaly import Anomaly, Plant
from harness.evidence.history.operation import Outcome

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story


def a_timeout_aborts_what_nobody_ended(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.marker("ABORT", epoch=1)
    s.end()
    return []


def a_commit_whose_request_was_lost_is_aborted_by_the_successor(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1, 2)
    s.produce(1, 0, size=2)
    s.produce(1, 1, size=2, at=1)
    s.commit(1, outcome=Outcome.UNSURE, error=None, control=None)
    s.init("b", epoch=1)
    s.marker("ABORT", 0, 1, epoch=1)
    s.whole(2, 0, 1, actor="b")
    s.end()
    return []


def all_promised_records_are_aborted(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.commit(1, control="ABORT")
    s.end()
    return ["lost-commit"]


def a_reader_lacks_a_transaction(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.whole(2)
    s.end()
    s.events["reads"].remove(s.read("spark", 0, s.value(1)))
    return ["lost-commit"]


def a_reader_that_did_not_come_far_lacks_nothing(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.whole(2)
    s.end(readers=["wire"])
    s.add(s.came_to("librdkafka", 0, 2), s.read("librdkafka", 0, s.value(1)))
    return []


def the_log_begins_later_than_the_run(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.whole(2)
    s.end()
    del s.events["log"][:2]
    s.change("partitions", 0, log_start_offset=2)
    return []


def an_output_is_lost_which_has_a_name_of_its_own(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.relay(2, [0], control="ABORT")
    s.end()
    s.add(s.group_offset(1))
    return ["lost-commit"]


def all_commit_markers_say_abort(e: HistoryEditor) -> bool:
    """A transaction whose commit was done is aborted everywhere."""
    return e.flip_one(e.sound(), least=1, all_of=True)


def all_records_gone(e: HistoryEditor) -> bool:
    """The log lacks all records of a committed transaction."""
    return e.remove_one(all_of=True)


def passes_over_a_transaction(e: HistoryEditor) -> bool:
    """A reader delivers nothing of a committed transaction."""
    return e.pass_over_one(least=1)


ANOMALY = Anomaly(
    name="lost-commit",
    order=120,
    definition=(
        "the committed log has none of a transaction's promised records, those that are open left aside; a reader"
        " has none of the records that it owes of a transaction"
    ),
    phrase="loses committed transactions",
    stories=(
        a_timeout_aborts_what_nobody_ended,
        a_commit_whose_request_was_lost_is_aborted_by_the_successor,
        all_promised_records_are_aborted,
        a_reader_lacks_a_transaction,
        a_reader_that_did_not_come_far_lacks_nothing,
        the_log_begins_later_than_the_run,
        an_output_is_lost_which_has_a_name_of_its_own,
    ),
    plants=(
        Plant(change=all_commit_markers_say_abort),
        Plant(change=all_records_gone),
        Plant(change=passes_over_a_transaction),
    ),
)
