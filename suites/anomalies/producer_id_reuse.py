"""The anomaly ``producer-id-reuse``: hands one producer id to two transactional ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.evidence.anomaly import Anomaly, Plant

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story


UNUSED_EPOCH = 30_000
"""No history reaches it."""


def a_producer_id_is_handed_to_two_transactional_ids(s: Story) -> Sequence[str]:
    s.init()
    s.init("b", epoch=1, transactional_id=f"other-{s.number}")
    s.end()
    return ["producer-id-reuse"]


def one_producer_id_for_two(e: HistoryEditor) -> bool:
    """Two transactional ids got one producer id."""
    inits = e.inits()
    found = [(one, other) for one in inits for other in inits if one != other]
    if not found:
        return False
    one, other = e.rng.choice(found)
    given = e.rng.choice(inits[one])
    same = replace(given, producer_id=e.rng.choice(inits[other]).producer_id, epoch=UNUSED_EPOCH)
    e.swap(e.history.operations, given, same)
    return True


ANOMALY = Anomaly(
    name="producer-id-reuse",
    order=180,
    definition="one producer id was handed to two transactional ids",
    phrase="hands one producer id to two transactional ids",
    stories=(a_producer_id_is_handed_to_two_transactional_ids,),
    plants=(Plant(change=one_producer_id_for_two),),
)
