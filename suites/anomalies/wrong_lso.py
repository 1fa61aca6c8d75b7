"""The anomaly ``wrong-lso``: returns a wrong last stable offset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.evidence.anomaly import Anomaly, Plant

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story


def the_last_stable_offset_is_above_what_is_open(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.end(lso={0: 1}, readers=[])
    return ["hanging-transaction", "wrong-lso"]


def fetch_tells_another_last_stable_offset(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.end()
    s.change("levels", -1, last_stable_offset=0)
    return ["wrong-lso"]


def the_last_stable_offset_was_above_what_was_open(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.add(*(s.sample(at, 1, 1) for at in (1, 2)))
    s.commit(1)
    s.end()
    return ["wrong-lso"]


def a_marker_comes_between_the_two_numbers_of_a_sample(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.add(s.sample(1, 1, 0), s.sample(2, 1, 1))
    s.commit(1)
    s.add(s.sample(3, 2, 2), s.sample(4, 2, 2))
    s.end()
    return []


def stable_offset_above_an_open_record(e: HistoryEditor) -> bool:
    """A late record stays open, and the broker returns an LSO as if everything up to the high watermark is stable."""
    return e.leave_open() is not None


def two_answers_disagree(e: HistoryEditor) -> bool:
    """A Fetch gives another last stable offset than ListOffsets."""
    place = e.rng.choice(e.written())
    high = e.end_of(place).high_watermark
    e.set_stable(place, high, level=e.rng.randrange(high))
    return True


ANOMALY = Anomaly(
    name="wrong-lso",
    order=210,
    definition=(
        "after settling, the last stable offset is above the first open segment, or a Fetch after ListOffsets "
        "tells another one at the same high watermark; in the run, two samples of ``levels`` have it above the "
        "first record of a segment whose marker is not below their high watermark"
    ),
    phrase="tells a wrong last stable offset",
    stories=(
        the_last_stable_offset_is_above_what_is_open,
        fetch_tells_another_last_stable_offset,
        the_last_stable_offset_was_above_what_was_open,
        a_marker_comes_between_the_two_numbers_of_a_sample,
    ),
    plants=(
        Plant(
            change=stable_offset_above_an_open_record,
            brings=frozenset({"hanging-transaction"}),
            because="the last stable offset can be above an open segment only while there is one",
        ),
        Plant(change=two_answers_disagree),
    ),
)
