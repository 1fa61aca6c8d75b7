"""The anomaly ``reordered``: changes the order of a producer's records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.evidence.anomaly import Anomaly, Plant

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story


def two_records_of_a_transaction_change_places(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1, 2)
    s.produce(1, 0, size=2)
    s.produce(1, 1, size=2)
    s.commit(1)
    first, second = (row.value for row in s.events["log"][:2])
    s.change("log", 0, value=second)
    s.change("log", 1, value=first)
    s.end()
    return ["reordered"]


def _two_in_flight(s: Story) -> None:
    """The produces of a transaction overlap: a producer has several requests in flight."""
    s.init()
    s.begin(1, 2)
    first = s.produce(1, 0, size=2)
    s.produce(1, 1, size=2)
    s.change("operations", s.events["operations"].index(first), ended=first.ended + 8)
    s.commit(1)


def two_records_in_flight_change_places(s: Story) -> Sequence[str]:
    _two_in_flight(s)
    first, second = (row.value for row in s.events["log"][:2])
    s.change("log", 0, value=second)
    s.change("log", 1, value=first)
    s.end()
    return ["reordered"]


def two_records_in_flight_are_in_their_order(s: Story) -> Sequence[str]:
    _two_in_flight(s)
    s.end()
    return []


def transactions_are_numbered_against_their_order(s: Story) -> Sequence[str]:
    s.init()
    for txn in (5, 3, 8, 1):
        s.whole(txn, 0, 0)
    s.end()
    return []


def transactions_numbered_against_their_order_change_places(s: Story) -> Sequence[str]:
    s.init()
    s.whole(5)
    s.whole(3)
    first, second = s.events["log"][0].value, s.events["log"][2].value
    s.change("log", 0, value=second)
    s.change("log", 2, value=first)
    s.end()
    return ["reordered"]


def two_records_change_places(e: HistoryEditor) -> bool:
    """Two records of a segment are in the log in the reverse of their order."""
    found = [(txn, segment) for txn in e.sound() for segment in txn.segments if len(segment.records) > 1]
    if not found:
        return False
    txn, segment = e.rng.choice(found)
    first, second = e.rng.sample(segment.records, 2)
    e.swap(e.history.log, first, replace(first, value=second.value))
    e.swap(e.history.log, second, replace(second, value=first.value))
    by_ordinal = {one.ordinal: one for one in txn.produces}
    one, other = by_ordinal[e.value_of(first).ordinal], by_ordinal[e.value_of(second).ordinal]
    e.swap(e.history.operations, one, replace(one, offset=second.offset))
    e.swap(e.history.operations, other, replace(other, offset=first.offset))
    e.history.read_again()
    return True


ANOMALY = Anomaly(
    name="reordered",
    order=110,
    definition=(
        "on one partition the committed log has two records of one actor in another order than their produces, "
        "the second of which began after the first had ended, or belongs to the same transaction"
    ),
    phrase="changes the order of a producer's records",
    stories=(
        two_records_of_a_transaction_change_places,
        two_records_in_flight_change_places,
        two_records_in_flight_are_in_their_order,
        transactions_are_numbered_against_their_order,
        transactions_numbered_against_their_order_change_places,
    ),
    plants=(Plant(change=two_records_change_places),),
)
