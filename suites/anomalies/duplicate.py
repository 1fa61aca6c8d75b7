"""The anomaly ``duplicate``: brings records twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.evidence.anomaly import Anomaly, Plant
from harness.evidence.history.operation import Outcome

if TYPE_CHECKING:
    from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
    from suites.selfcheck.fixtures.histories.model_transactions import ModelTransaction
    from suites.selfcheck.fixtures.stories.story import Story


def a_retry_is_appended_twice(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.append(s.value(1))
    s.commit(1)
    s.end()
    return ["duplicate"]


def a_retry_is_appended_twice_and_both_are_aborted(s: Story) -> Sequence[str]:
    s.init()
    s.begin(1)
    s.produce(1)
    s.append(s.value(1))
    s.abort(1)
    s.end()
    return []


def a_reader_delivers_an_offset_twice(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.end()
    s.add(s.read("spark", 0, s.value(1)))
    return ["duplicate"]


def an_actor_reads_again_and_stops_anywhere(s: Story) -> Sequence[str]:
    s.init()
    for txn in (1, 2, 3):
        s.whole(txn)
    s.end()
    s.add(*(s.read("actor", 0, s.value(1)) for _ in range(2)), s.read("actor", 2, s.value(2)))
    s.add(s.came_to("actor", 0, 6))
    return []


def an_input_is_relayed_again_after_an_abort(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1, 0, 0)
    s.relay(2, [0, 1], outcome=Outcome.REFUSED, control="ABORT")
    s.relay(3, [0, 1])
    s.end()
    s.add(s.group_offset(2))
    return []


def an_input_is_relayed_twice(s: Story) -> Sequence[str]:
    s.init()
    s.whole(1)
    s.relay(2, [0])
    s.relay(3, [0])
    s.end()
    s.add(s.group_offset(1))
    return ["duplicate"]


def appended_twice(e: HistoryEditor) -> bool:
    """A request that was sent twice was appended twice."""
    found = [(segment, record) for txn in e.sound() for segment in txn.segments for record in segment.records]
    if not found:
        return False
    segment, record = e.rng.choice(found)
    at = e.rng.choice([one.offset for one in (*segment.records, segment.marker) if one.offset > record.offset])
    e.insert(replace(record, offset=at, batch_offset=at))
    e.history.read_again()
    return True


def _payloads(txn: ModelTransaction) -> set[str | None]:
    return {produce.payload for produce in txn.produces}


def input_carried_twice(e: HistoryEditor) -> bool:
    """Two members of a group commit an output of the same input, as if the second had not been fenced."""
    transactions = e.transactions()
    done = {payload for txn in transactions if txn.sound for payload in _payloads(txn)}
    found = [
        txn
        for txn in transactions
        if txn.acknowledged and txn.offsets and txn.ended("abort", Outcome.DONE) and _payloads(txn) <= done
    ]
    if not found:
        return False
    txn = e.rng.choice(found)
    for end in txn.ends:
        e.swap(e.history.operations, end, replace(end, verb="commit"))
        e.forget(end.transactional_id)
    e.flip(txn.segments)
    return True


def delivers_twice(e: HistoryEditor) -> bool:
    """A reader delivers one offset twice."""
    read = e.rng.choice([read for read in e.history.reads if read.reader in e.reader_names()])
    e.history.reads.insert(e.history.reads.index(read) + 1, replace(read))
    e.history.reads = e.numbered(e.history.reads)
    return True


ANOMALY = Anomaly(
    name="duplicate",
    order=100,
    definition=(
        "a view has the same value twice; a reader that is no actor's delivered the same offset twice; the "
        "committed log has two outputs (``relay:`` payloads of one output topic) of the same input"
    ),
    phrase="brings records twice",
    stories=(
        a_retry_is_appended_twice,
        a_retry_is_appended_twice_and_both_are_aborted,
        a_reader_delivers_an_offset_twice,
        an_actor_reads_again_and_stops_anywhere,
        an_input_is_relayed_again_after_an_abort,
        an_input_is_relayed_twice,
    ),
    plants=(Plant(change=appended_twice), Plant(change=input_carried_twice), Plant(change=delivers_twice)),
)
