"""The anomaly ``dirty-read``: shows records of open transactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.evidence.anomaly import Anomaly, Plant
from harness.evidence.history.operation import Outcome

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story


def a_reader_is_shown_an_open_record(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.begin(2)
    s.produce(2)
    s.end()
    s.add(s.read("wire", 2, s.value(2)))
    return ["dirty-read", "hanging-transaction", "stuck-lso"]


def a_reader_was_shown_what_is_nowhere_now(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1, outcome=Outcome.UNSURE, log=False)
    s.abort(1)
    s.end()
    s.add(s.read("wire", 0, s.value(1)))
    return ["dirty-read"]


def delivers_an_open_record(e: HistoryEditor) -> bool:
    """A reader delivers the record of a segment that was never ended."""
    left = e.leave_open_and_stuck()
    if left is not None:
        e.deliver(left)
    return left is not None


ANOMALY = Anomaly(
    name="dirty-read",
    order=30,
    definition=(
        "a reader delivered a record of an open segment, or one that the log has nowhere although it was not promised"
    ),
    phrase="shows records of open transactions",
    stories=(a_reader_is_shown_an_open_record, a_reader_was_shown_what_is_nowhere_now),
    plants=(
        Plant(
            change=delivers_an_open_record,
            brings=frozenset({"hanging-transaction", "stuck-lso"}),
            because="a dirty record's segment is open, and one that is open after settling hangs and holds the LSO",
        ),
    ),
)
