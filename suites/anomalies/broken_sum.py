"""The anomaly ``broken-sum``: lets money appear or vanish."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.evidence.anomaly import Anomaly, Plant
from harness.evidence.history.operation import Operation

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story


def half_a_transfer_was_never_written(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1, 2)
    s.produce(1, 0, size=2, payload="money:a:-5")
    s.commit(1)
    s.end()
    return ["broken-sum"]


def _is_money(produce: Operation) -> bool:
    return str(produce.payload).startswith("money:")


def amounts_do_not_add_up(e: HistoryEditor) -> bool:
    """A teller wrote an amount too much, and everybody agrees on what it wrote."""
    found = [(produce, txn) for txn in e.sound() for produce in txn.produces if _is_money(produce)]
    if not found:
        return False
    produce, txn = e.rng.choice(found)
    account, _, amount = str(produce.payload).rpartition(":")
    more = replace(produce, payload=f"{account}:{int(amount) + e.rng.choice((-2, -1, 1, 2)):+d}")
    (record,) = (one for one in txn.records if one.value == e.written_value(produce))
    e.swap(e.history.operations, produce, more)
    e.swap(e.history.log, record, replace(record, value=e.written_value(more)))
    e.history.read_again()
    return True


ANOMALY = Anomaly(
    name="broken-sum",
    order=140,
    definition=(
        "the amounts of a transaction's money records in the committed log do not sum to 0, though everything "
        "that it produced was acknowledged and is there, and nothing above explains it"
    ),
    phrase="lets money appear or vanish",
    stories=(half_a_transfer_was_never_written,),
    plants=(Plant(change=amounts_do_not_add_up),),
)
