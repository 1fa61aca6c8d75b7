"""The anomaly ``offsets-without-records``: commits offsets without their records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.evidence.anomaly import Anomaly, Plant
from harness.evidence.history.operation import Outcome

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story


def offsets_are_committed_though_the_transaction_was_aborted(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1, 0, 0)
    s.relay(2, [0])
    s.relay(3, [1], outcome=Outcome.UNSURE, control="ABORT")
    s.end()
    s.add(s.group_offset(2))
    return ["offsets-without-records"]


def group_is_past_an_input(e: HistoryEditor) -> bool:
    """The group's offset is past an input that no transaction has carried to an output."""
    carried = {e.value_of(record).payload for record in e.visible()}
    found = [
        (kept, record)
        for kept in e.history.offsets
        for record in e.visible()
        if (record.topic, record.partition) == (kept.topic, kept.partition)
        if record.offset >= kept.offset > 0 and e.value_of(record).payload != "probe"
        if f"relay:{record.topic}-{record.partition}@{record.offset}" not in carried
    ]
    if not found:
        return False
    kept, record = e.rng.choice(found)
    e.swap(e.history.offsets, kept, replace(kept, offset=record.offset + 1))
    return True


ANOMALY = Anomaly(
    name="offsets-without-records",
    order=150,
    definition=(
        "a group's committed offset is past a record of an input that it relays, and the committed log has no "
        "output of it by a transaction of the group, none is open, and none that was promised is missing"
    ),
    phrase="commits offsets without their records",
    stories=(offsets_are_committed_though_the_transaction_was_aborted,),
    plants=(Plant(change=group_is_past_an_input),),
)
