"""Plants in the raw log: the broker committed what it must not, or did not commit what it must. Readers follow the log.

Records of a relay's inputs are left alone, since what becomes of one has consequences in outputs and offsets.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from harness.history.operation import LogRecord, Operation, Outcome, Value
from suites.selfcheck.histories.doctoring import (
    Segment,
    Story,
    flip,
    insert,
    is_input,
    stories,
    swap,
    value_of,
)
from suites.selfcheck.histories.synthetic import TXNS, Synthetic

NOBODY = TXNS - 1
"""Transaction and producer that no history reaches."""
STEP = 0.05
"""Milliseconds; less than any two events of the model are apart."""


def foreign_record(history: Synthetic, rng: Random) -> bool:
    """A committed segment of a producer and a transaction that nobody knows."""
    places = [place for place in history.places() if not is_input(history, place)]
    topic, index = place = rng.choice(places)
    producer_id = txn = history.number * TXNS + NOBODY
    at = rng.randint(0, sum((one.topic, one.partition) == place for one in history.log))
    value = rng.choice((f"{txn}/0/1/", f"{txn}/0/1/money:1:+5", "something else"))
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
    insert(history, record)
    marker = replace(record, offset=at + 1, batch_offset=at + 1, sequence=-1, control="COMMIT", value=None)
    insert(history, marker)
    history.read_again()
    return True


def another_payload(history: Synthetic, rng: Random) -> bool:
    """A record came back with another payload."""
    return _altered(history, rng, lambda value: replace(value, payload=value.payload + "!"))


def another_size(history: Synthetic, rng: Random) -> bool:
    """A record came back with another size."""
    return _altered(history, rng, lambda value: replace(value, size=value.size + 1))


def fenced_yet_there(history: Synthetic, rng: Random) -> bool:
    """The producer was told that it is fenced, and its record is committed."""
    return _refused(history, rng, rng.choice((47, 49, 90)))


def refused_yet_there(history: Synthetic, rng: Random) -> bool:
    """The producer was refused for another reason, and its record is committed."""
    return _refused(history, rng, rng.choice((10, 19, 48, 87)))


def written_after_a_newer_init(history: Synthetic, rng: Random) -> bool:
    """Another actor's init of the same transactional id was done before a record that is committed was produced."""
    found = [(story, produce) for story in _sound(history) for produce in story.produces]
    if not found:
        return False
    _, produce = rng.choice(found)
    newer = Operation(
        number=produce.number - 1,
        actor=f"{history.name}ghost",
        client="librdkafka",
        verb="init",
        started=produce.started - 2 * STEP,
        ended=produce.started - STEP,
        outcome=Outcome.DONE,
        transactional_id=produce.transactional_id,
    )
    history.operations.append(newer)
    return True


def aborted_record_in_a_later_segment(history: Synthetic, rng: Random) -> bool:
    """A late request of an aborted transaction lands in a later transaction of the same producer, and is committed."""
    told = stories(history)
    found = [
        (segment, produce)
        for later in told
        if later.sound
        for segment in later.segments
        for earlier in told
        if earlier.txn < later.txn and earlier.ended("abort", Outcome.DONE) and _over_before(earlier, later)
        for produce in earlier.produces
        if produce.outcome is not Outcome.REFUSED and (produce.topic, produce.partition) == segment.place
        if not is_input(history, segment.place) and _same_producer(earlier, segment)
    ]
    if not found:
        return False
    segment, produce = rng.choice(found)
    offsets = [record.offset for record in segment.records]
    at = rng.choice((*offsets, segment.marker.offset))
    insert(history, replace(segment.records[-1], offset=at, batch_offset=at, value=_value(produce)))
    history.read_again()
    return True


def abort_marker_says_commit(history: Synthetic, rng: Random) -> bool:
    """A segment of an aborted transaction is ended by a commit marker."""
    found = [
        segment
        for story in stories(history)
        if not story.ended("commit", Outcome.DONE, Outcome.UNSURE)
        for segment in story.segments
        if not is_input(history, segment.place)
    ]
    if not found:
        return False
    flip(history, [rng.choice(found)])
    return True


def appended_twice(history: Synthetic, rng: Random) -> bool:
    """A request that was sent twice was appended twice."""
    found = [(segment, record) for story in _sound(history) for segment in story.segments for record in segment.records]
    if not found:
        return False
    segment, record = rng.choice(found)
    at = rng.choice([one.offset for one in (*segment.records, segment.marker) if one.offset > record.offset])
    insert(history, replace(record, offset=at, batch_offset=at))
    history.read_again()
    return True


def input_carried_twice(history: Synthetic, rng: Random) -> bool:
    """Two members of a group commit an output of the same input, as if the second had not been fenced."""
    told = stories(history)
    done = {payload for story in told if story.sound for payload in _payloads(story)}
    found = [
        story
        for story in told
        if story.acknowledged and story.offsets and story.ended("abort", Outcome.DONE) and _payloads(story) <= done
    ]
    if not found:
        return False
    story = rng.choice(found)
    for end in story.ends:
        swap(history.operations, end, replace(end, verb="commit"))
    flip(history, story.segments)
    return True


def two_records_change_places(history: Synthetic, rng: Random) -> bool:
    """Two records of a segment are in the log in the reverse of their order."""
    found = [(story, segment) for story in _sound(history) for segment in story.segments if len(segment.records) > 1]
    if not found:
        return False
    story, segment = rng.choice(found)
    first, second = rng.sample(segment.records, 2)
    swap(history.log, first, replace(first, value=second.value))
    swap(history.log, second, replace(second, value=first.value))
    by_ordinal = {one.ordinal: one for one in story.produces}
    one, other = by_ordinal[value_of(first).ordinal], by_ordinal[value_of(second).ordinal]
    swap(history.operations, one, replace(one, offset=second.offset))
    swap(history.operations, other, replace(other, offset=first.offset))
    history.read_again()
    return True


def all_commit_markers_say_abort(history: Synthetic, rng: Random) -> bool:
    """A transaction whose commit was done is aborted everywhere."""
    return _flipped(history, rng, _sound(history), least=1, all_of=True)


def some_commit_markers_say_abort(history: Synthetic, rng: Random) -> bool:
    """A transaction whose commit was done is aborted on some partitions."""
    return _flipped(history, rng, _sound(history), least=2, all_of=False)


def unsure_commit_by_half(history: Synthetic, rng: Random) -> bool:
    """A transaction whose commit was unsure is committed on some partitions and aborted on others."""
    unsure = [
        story
        for story in stories(history)
        if story.acknowledged and story.ended("commit", Outcome.UNSURE) and not _on_inputs(history, story)
    ]
    return _flipped(history, rng, unsure, least=2, all_of=False)


def all_records_gone(history: Synthetic, rng: Random) -> bool:
    """The log lacks all records of a committed transaction."""
    return _gone(history, rng, all_of=True)


def some_records_gone(history: Synthetic, rng: Random) -> bool:
    """The log lacks some records of a committed transaction."""
    return _gone(history, rng, all_of=False)


def amounts_do_not_add_up(history: Synthetic, rng: Random) -> bool:
    """A teller wrote an amount too much, and everybody agrees on what it wrote."""
    found = [(produce, story) for story in _sound(history) for produce in story.produces if _is_money(produce)]
    if not found:
        return False
    produce, story = rng.choice(found)
    account, _, amount = str(produce.payload).rpartition(":")
    more = replace(produce, payload=f"{account}:{int(amount) + rng.choice((-2, -1, 1, 2)):+d}")
    (record,) = (one for one in story.records if one.value == _value(produce))
    swap(history.operations, produce, more)
    swap(history.log, record, replace(record, value=_value(more)))
    history.read_again()
    return True


def _sound(history: Synthetic) -> list[Story]:
    """Transactions that are as they should be, and have nothing to do with a relay's inputs."""
    return [story for story in stories(history) if story.sound and not _on_inputs(history, story)]


def _on_inputs(history: Synthetic, story: Story) -> bool:
    return any(is_input(history, segment.place) for segment in story.segments)


def _is_money(produce: Operation) -> bool:
    return str(produce.payload).startswith("money:")


def _payloads(story: Story) -> set[str | None]:
    return {produce.payload for produce in story.produces}


def _value(produce: Operation) -> str:
    assert produce.txn is not None
    assert produce.ordinal is not None
    assert produce.size is not None
    return str(Value(txn=produce.txn, ordinal=produce.ordinal, size=produce.size, payload=produce.payload or ""))


def _altered(history: Synthetic, rng: Random, change: Callable[[Value], Value]) -> bool:
    found = [record for story in _sound(history) for record in story.records]
    if not found:
        return False
    record = rng.choice(found)
    swap(history.log, record, replace(record, value=str(change(value_of(record)))))
    history.read_again()
    return True


def _refused(history: Synthetic, rng: Random, error: int) -> bool:
    found = [produce for story in _sound(history) for produce in story.produces]
    if not found:
        return False
    produce = rng.choice(found)
    no = replace(produce, outcome=Outcome.REFUSED, error=error, reason="the broker says no", offset=None)
    swap(history.operations, produce, no)
    return True


def _same_producer(earlier: Story, segment: Segment) -> bool:
    return any(one.producer_id == segment.producer_id for one in earlier.segments)


def _over_before(earlier: Story, later: Story) -> bool:
    """Whether the one's last operation was over when the other's first began."""
    return max(end.number for end in earlier.ends) < min(one.number for one in later.produces)


def _flipped(history: Synthetic, rng: Random, told: Sequence[Story], *, least: int, all_of: bool) -> bool:
    found = [story for story in told if len(story.segments) >= least]
    if not found:
        return False
    marked = rng.choice(found).segments
    flip(history, marked if all_of else rng.sample(marked, rng.randint(1, len(marked) - 1)))
    return True


def _gone(history: Synthetic, rng: Random, *, all_of: bool) -> bool:
    found = [story for story in _sound(history) if all_of or len(story.records) > 1]
    if not found:
        return False
    records = rng.choice(found).records
    gone = records if all_of else rng.sample(records, rng.randint(1, len(records) - 1))
    history.log = [record for record in history.log if record not in gone]
    history.read_again()
    return True
