"""The anomaly ``records-without-offsets``: commits records without their offsets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.evidence.anomaly import Anomaly, Plant
from harness.evidence.history.operation import Outcome

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story


def offsets_are_not_committed_though_the_transaction_was(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1, 0, 0)
    s.relay(2, [0])
    s.relay(3, [1])
    s.end()
    s.add(s.group_offset(1))
    return ["records-without-offsets"]


def offsets_that_were_sent_in_doubt_may_be_committed_or_not(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1, 0, 0)
    s.relay(2, [0])
    s.relay(3, [1])
    sent = [n for n, one in enumerate(s.events["operations"]) if one.verb == "send_offsets"]
    s.change("operations", sent[1], outcome=Outcome.UNSURE, error=None)
    s.end()
    s.add(s.group_offset(1))
    return []


def group_fell_back(e: HistoryEditor) -> bool:
    """The group's offset is before an input whose output is committed."""
    outputs = {e.value_of(record).payload for record in e.visible()}
    found = [
        (kept, record)
        for kept in e.history.offsets
        for record in e.visible()
        if (record.topic, record.partition) == (kept.topic, kept.partition) and record.offset < kept.offset
        if f"relay:{record.topic}-{record.partition}@{record.offset}" in outputs
    ]
    if not found:
        return False
    kept, record = e.rng.choice(found)
    e.swap(e.history.offsets, kept, replace(kept, offset=record.offset))
    return True


ANOMALY = Anomaly(
    name="records-without-offsets",
    order=160,
    definition=(
        "the committed log has the output of an input by a transaction whose ``send_offsets`` past that input was"
        " done, and the group's offset is not past it"
    ),
    phrase="commits records without their offsets",
    stories=(
        offsets_are_not_committed_though_the_transaction_was,
        offsets_that_were_sent_in_doubt_may_be_committed_or_not,
    ),
    plants=(Plant(change=group_fell_back),),
)
