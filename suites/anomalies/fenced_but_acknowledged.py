"""The anomaly ``fenced-but-acknowledged``: goes on serving fenced producers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.evidence.anomaly import Anomaly, Plant
from harness.evidence.history.operation import Outcome

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story


STEP_MS = 0.05
"""Less than any two events of the model are apart."""


def a_fenced_producer_writes_with_success_and_is_aborted(s: Story) -> Sequence[str]:
    s.init()
    s.init("b", epoch=1)
    s.begin(1)
    s.produce(1)
    s.abort(1)
    s.end()
    return ["fenced-but-acknowledged"]


def a_fenced_producer_ends_with_success_what_it_never_wrote(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.init("b", epoch=1)
    s.produce(1, outcome=Outcome.REFUSED)
    s.commit(1, control=None)
    s.end()
    return []


def fenced_write_is_acknowledged(e: HistoryEditor) -> bool:
    """Another's init was done before records were acknowledged that are aborted; then their actor inits again."""
    transactions = [txn for txn in e.transactions() if txn.acknowledged]
    found = [
        (txn.produces[0], end)
        for txn in transactions
        for end in txn.ends
        if end.verb == "abort" and end.outcome is Outcome.DONE
    ]
    if not found:
        return False
    first, last = e.rng.choice(found)
    init = e.init_by_another(first)
    after = last.ended + STEP_MS
    again = replace(init, number=last.number + 1, actor=last.actor, started=after, ended=after)
    e.history.operations.append(again)
    return True


ANOMALY = Anomaly(
    name="fenced-but-acknowledged",
    order=60,
    definition=(
        "a produce, or the commit of a transaction with acknowledged writes, was done though it began after a "
        "newer init of its transactional id by another actor was done; and nothing written behind that init is "
        "visible"
    ),
    phrase="goes on serving fenced producers",
    stories=(
        a_fenced_producer_writes_with_success_and_is_aborted,
        a_fenced_producer_ends_with_success_what_it_never_wrote,
    ),
    plants=(Plant(change=fenced_write_is_acknowledged),),
)
