"""The anomaly ``unknown-record``: shows records that no producer wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.evidence.anomaly import Anomaly, Plant
from harness.evidence.history.operation import LogRecord

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story


def a_record_that_nobody_wrote(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.append(s.value(77))
    s.commit(1)
    s.end()
    return ["unknown-record"]


def a_record_of_somebody_else(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.append("hello")
    s.commit(1)
    s.end()
    return ["unknown-record"]


def foreign_record(e: HistoryEditor) -> bool:
    """A committed segment of a producer and a transaction that is not in the history."""
    places = [place for place in e.history.places() if not e.is_input(place)]
    topic, index = place = e.rng.choice(places)
    producer_id = txn = e.unused_number
    at = e.rng.randint(0, sum((one.topic, one.partition) == place for one in e.history.log))
    value = e.rng.choice((f"{txn}/0/1/", f"{txn}/0/1/money:1:+5", "something else"))
    record = LogRecord(
        topic=topic,
        partition=index,
        offset=at,
        batch_offset=at,
        producer_id=producer_id,
        epoch=0,
        sequence=0,
        transactional=True,
        value=value,
    )
    e.insert(record)
    marker = replace(record, offset=at + 1, batch_offset=at + 1, sequence=-1, control="COMMIT", value=None)
    e.insert(marker)
    e.history.read_again()
    return True


def delivers_what_nobody_wrote(e: HistoryEditor) -> bool:
    """A reader delivers a value of no operation, where the log has a marker."""
    markers = [record for record in e.history.log if record.control is not None]
    value = e.rng.choice((f"{e.unused_number}/0/1/", "something else"))
    e.deliver(replace(e.rng.choice(markers), value=value))
    return True


ANOMALY = Anomaly(
    name="unknown-record",
    order=10,
    definition="a view has a record that no operation of the history wrote to that partition",
    phrase="shows records that nobody wrote",
    stories=(a_record_that_nobody_wrote, a_record_of_somebody_else),
    plants=(Plant(change=foreign_record), Plant(change=delivers_what_nobody_wrote)),
)
