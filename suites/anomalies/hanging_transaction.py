"""The anomaly ``hanging-transaction``: leaves transactions hanging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.evidence.anomaly import Anomaly, Plant
from harness.evidence.history.operation import KeptTransaction, OpenProducer, WatermarkSample

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.stories.story import Story


def a_late_produce_hangs_and_holds_up_the_readers(s: Story) -> Sequence[str]:
    s.init()
    s.late_produce(1)
    s.add(
        *(
            WatermarkSample(at=at, topic=s.topic, partition=0, high_watermark=3, last_stable_offset=2)
            for at in (5e9, 6e9)
        ),
        OpenProducer(
            topic=s.topic,
            partition=0,
            producer_id=s.pid(),
            epoch=0,
            transaction_start_offset=2,
            last_timestamp_ms=0,
        ),
    )
    s.end()
    return ["hanging-transaction", "stuck-lso"]


def a_leader_keeps_a_transaction_that_the_log_does_not_have(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.add(
        OpenProducer(
            topic=s.topic, partition=0, producer_id=s.pid(), epoch=0, transaction_start_offset=2, last_timestamp_ms=0
        )
    )
    s.end()
    return ["hanging-transaction"]


def a_coordinator_does_not_complete_what_all_partitions_ended(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.add(
        KeptTransaction(
            transactional_id=f"id-{s.number}",
            state="PrepareCommit",
            producer_id=s.pid(),
            epoch=0,
            timeout_ms=6_000,
            started_ms=0,
            partitions=f"{s.topic}-0",
        )
    )
    s.end()
    return ["hanging-transaction"]


def a_reader_comes_past_the_log_once_a_late_marker_is_written(s: Story) -> Sequence[str]:
    """Its marker was written after the log was read; the reader was shown nothing that was open then."""
    s.init()
    s.whole(1)
    s.begin(2)
    s.produce(2)
    s.end()
    s.add(s.read("wire", 2, s.value(2)), s.came_to("wire", 0, 4, 3))
    return ["hanging-transaction", "stuck-lso"]


def late_record_stays_open(e: HistoryEditor) -> bool:
    """A late request of an aborted transaction is appended after its marker, and nothing ever ends it."""
    return e.leave_open_and_stuck() is not None


def leader_keeps_an_open_producer(e: HistoryEditor) -> bool:
    """The log is closed, and the leader still keeps the last transaction of a producer as open, and its LSO there."""
    last = {(segment.place, segment.producer_id): segment for segment in e.segments()}
    segment = e.rng.choice(list(last.values()))
    start = segment.records[0].offset
    (kept,) = (
        kept
        for kept in e.history.producers
        if (kept.topic, kept.partition) == segment.place and kept.producer_id == segment.producer_id
    )
    e.swap(e.history.producers, kept, replace(kept, transaction_start_offset=start))
    e.set_stable(segment.place, start)
    e.read_only_to(segment.place, start)
    return True


def coordinator_does_not_complete(e: HistoryEditor) -> bool:
    """Every marker is written, and the coordinator keeps the transaction as prepared."""
    if not e.history.transactions:
        return False
    kept = e.rng.choice(e.history.transactions)
    state = e.rng.choice(("PrepareCommit", "PrepareAbort"))
    e.swap(
        e.history.transactions, kept, replace(kept, state=state, listed=f"{state} {kept.producer_id}", recorded=None)
    )
    return True


ANOMALY = Anomaly(
    name="hanging-transaction",
    order=190,
    definition=(
        "after settling, a segment is open in the log, or a leader keeps an open transaction, or a coordinator keeps "
        "one that is not over of a producer id that has nothing open"
    ),
    phrase="leaves transactions hanging",
    stories=(
        a_late_produce_hangs_and_holds_up_the_readers,
        a_leader_keeps_a_transaction_that_the_log_does_not_have,
        a_coordinator_does_not_complete_what_all_partitions_ended,
        a_reader_comes_past_the_log_once_a_late_marker_is_written,
    ),
    plants=(
        Plant(
            change=late_record_stays_open,
            brings=frozenset({"stuck-lso"}),
            because="an open segment holds the last stable offset below the high watermark",
        ),
        Plant(
            change=leader_keeps_an_open_producer,
            brings=frozenset({"stuck-lso"}),
            because="a leader's last stable offset is where the first transaction begins that it keeps",
        ),
        Plant(change=coordinator_does_not_complete),
    ),
)
