"""The anomaly ``stuck-lso``: leaves the last stable offset stuck."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.evidence.anomaly import Anomaly, Plant

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story


def the_last_stable_offset_is_stuck_with_nothing_open(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.end(lso={0: 1})
    return ["stuck-lso"]


def stable_offset_stays_behind(e: HistoryEditor) -> bool:
    """Every segment is closed, and the last stable offset is below the high watermark all the same."""
    place = e.rng.choice(e.written())
    offset = e.rng.randrange(e.end_of(place).high_watermark)
    e.set_stable(place, offset)
    e.read_only_to(place, offset)
    return True


ANOMALY = Anomaly(
    name="stuck-lso",
    order=200,
    definition="after settling, a partition's last stable offset is below its high watermark",
    phrase="leaves the last stable offset stuck",
    stories=(the_last_stable_offset_is_stuck_with_nothing_open,),
    plants=(Plant(change=stable_offset_stays_behind),),
)
