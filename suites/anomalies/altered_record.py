"""The anomaly ``altered-record``: alters what was written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.evidence.anomaly import Anomaly, Plant
from harness.evidence.history.operation import Value

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story


def a_record_says_something_else(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1, payload="right")
    s.commit(1)
    s.change("log", 0, value=s.value(1, payload="wrong"))
    s.end()
    return ["altered-record"]


def a_reader_delivers_something_else(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.end(readers=["wire"])
    s.add(s.came_to("spark", 0, 2), s.read("spark", 0, s.value(1, payload="else")))
    return ["altered-record"]


def _altered(e: HistoryEditor, change: Callable[[Value], Value]) -> bool:
    found = [record for txn in e.sound() for record in txn.records]
    if not found:
        return False
    record = e.rng.choice(found)
    e.swap(e.history.log, record, replace(record, value=str(change(e.value_of(record)))))
    e.history.read_again()
    return True


def another_payload(e: HistoryEditor) -> bool:
    """A record came back with another payload."""
    return _altered(e, lambda value: replace(value, payload=value.payload + "!"))


def another_size(e: HistoryEditor) -> bool:
    """A record came back with another size."""
    return _altered(e, lambda value: replace(value, size=value.size + 1))


def delivers_another_payload(e: HistoryEditor) -> bool:
    """A reader delivers another payload than the one that was written."""
    read = e.rng.choice(e.history.reads)
    value = e.value_of(read)
    e.swap(e.history.reads, read, replace(read, value=str(replace(value, payload=value.payload + "!"))))
    return True


ANOMALY = Anomaly(
    name="altered-record",
    order=20,
    definition="a record's payload or size is not the one that was written",
    phrase="alters what was written",
    stories=(a_record_says_something_else, a_reader_delivers_something_else),
    plants=(Plant(change=another_payload), Plant(change=another_size), Plant(change=delivers_another_payload)),
)
