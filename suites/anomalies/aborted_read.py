"""The anomaly ``aborted-read``: shows aborted records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.evidence.anomaly import Anomaly, Plant

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story


def a_reader_is_shown_an_aborted_record(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1, commit=False)
    s.whole(2)
    s.end()
    s.add(s.read("spark", 0, s.value(1)))
    return ["aborted-read"]


def an_actor_was_shown_an_aborted_record(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1, commit=False)
    s.end()
    s.add(s.read("actor", 0, s.value(1)))
    return ["aborted-read"]


def delivers_an_aborted_record(e: HistoryEditor) -> bool:
    """A reader delivers a record of an aborted segment."""
    aborted = [record for segment in e.segments() if not segment.committed for record in segment.records]
    if not aborted:
        return False
    e.deliver(e.rng.choice(aborted))
    return True


ANOMALY = Anomaly(
    name="aborted-read",
    order=40,
    definition="a reader delivered a record of an aborted segment",
    phrase="shows aborted records",
    stories=(a_reader_is_shown_an_aborted_record, an_actor_was_shown_an_aborted_record),
    plants=(Plant(change=delivers_an_aborted_record),),
)
