"""Plants in what is left after settling: open transactions, stable offsets, groups' offsets, probes."""

from dataclasses import replace
from random import Random

from harness.history.operation import LogRecord, Outcome
from suites.selfcheck.histories.broker import Place
from suites.selfcheck.histories.doctoring import (
    end_of,
    insert,
    is_input,
    read_only_to,
    segments,
    set_stable,
    swap,
    value_of,
)
from suites.selfcheck.histories.synthetic import Synthetic, visible


def late_record_stays_open(history: Synthetic, rng: Random) -> bool:
    """A late request of an aborted transaction is appended after its marker, and nothing ever ends it."""
    left = _leave_open(history, rng)
    if left is None:
        return False
    place = (left.topic, left.partition)
    set_stable(history, place, left.offset)
    read_only_to(history, place, left.offset)
    return True


def stable_offset_above_an_open_record(history: Synthetic, rng: Random) -> bool:
    """The same, and the broker says that everything up to the high watermark is stable."""
    return _leave_open(history, rng) is not None


def leader_keeps_an_open_producer(history: Synthetic, rng: Random) -> bool:
    """The log is closed, and the leader still keeps the last transaction of a producer as open, and its LSO there."""
    last = {(segment.place, segment.producer_id): segment for segment in segments(history)}
    segment = rng.choice(list(last.values()))
    start = segment.records[0].offset
    (kept,) = (
        kept
        for kept in history.producers
        if (kept.topic, kept.partition) == segment.place and kept.producer_id == segment.producer_id
    )
    swap(history.producers, kept, replace(kept, transaction_start_offset=start))
    set_stable(history, segment.place, start)
    read_only_to(history, segment.place, start)
    return True


def stable_offset_stays_behind(history: Synthetic, rng: Random) -> bool:
    """Every segment is closed, and the last stable offset is below the high watermark all the same."""
    place = rng.choice(_written(history))
    offset = rng.randrange(end_of(history, place).high_watermark)
    set_stable(history, place, offset)
    read_only_to(history, place, offset)
    return True


def two_answers_disagree(history: Synthetic, rng: Random) -> bool:
    """A fetch tells another last stable offset than ListOffsets."""
    place = rng.choice(_written(history))
    high = end_of(history, place).high_watermark
    set_stable(history, place, high, level=rng.randrange(high))
    return True


def group_is_past_an_input(history: Synthetic, rng: Random) -> bool:
    """The group's offset is past an input that nobody has carried to an output."""
    carried = {value_of(record).payload for record in visible(history.log)}
    found = [
        (kept, record)
        for kept in history.offsets
        for record in visible(history.log)
        if (record.topic, record.partition) == (kept.topic, kept.partition)
        if record.offset >= kept.offset > 0 and value_of(record).payload != "probe"
        if f"relay:{record.topic}-{record.partition}@{record.offset}" not in carried
    ]
    if not found:
        return False
    kept, record = rng.choice(found)
    swap(history.offsets, kept, replace(kept, offset=record.offset + 1))
    return True


def group_fell_back(history: Synthetic, rng: Random) -> bool:
    """The group's offset is before an input whose output is committed."""
    outputs = {value_of(record).payload for record in visible(history.log)}
    found = [
        (kept, record)
        for kept in history.offsets
        for record in visible(history.log)
        if (record.topic, record.partition) == (kept.topic, kept.partition) and record.offset < kept.offset
        if f"relay:{record.topic}-{record.partition}@{record.offset}" in outputs
    ]
    if not found:
        return False
    kept, record = rng.choice(found)
    swap(history.offsets, kept, replace(kept, offset=record.offset))
    return True


def probe_is_not_committed(history: Synthetic, rng: Random) -> bool:
    """The probe's commit was never answered."""
    commits = [one for one in history.operations if one.actor.startswith("probe-") and one.verb == "commit"]
    failed = rng.choice(commits)
    unsure = replace(failed, outcome=Outcome.UNSURE, error=rng.choice((None, 7)), reason="no answer came")
    swap(history.operations, failed, unsure)
    return True


def probe_is_refused(history: Synthetic, rng: Random) -> bool:
    """No coordinator would have the probe: its init was refused, and it wrote nothing."""
    mine = [one for one in history.operations if one.actor.startswith("probe-")]
    (init,) = (one for one in mine if one.verb == "init")
    error = rng.choice((14, 15, 16))
    history.operations = [one for one in history.operations if one not in mine]
    history.operations.append(
        replace(init, outcome=Outcome.REFUSED, error=error, producer_id=None, epoch=None, reason="no")
    )
    wrote = {one.txn for one in mine if one.txn is not None}
    gone = [record for segment in segments(history) if segment.txn in wrote for record in segment.records]
    history.log = [record for record in history.log if record not in gone]
    history.read_again()
    return True


def _leave_open(history: Synthetic, rng: Random) -> LogRecord | None:
    """A second copy of an aborted record, somewhere behind all that its producer has on the partition."""
    found = [
        record
        for segment in segments(history)
        if not segment.committed and not is_input(history, segment.place)
        for record in segment.records
    ]
    if not found:
        return None
    aborted = rng.choice(found)
    mine = [one for one in history.log if (one.topic, one.partition) == (aborted.topic, aborted.partition)]
    last = max(one.offset for one in mine if one.producer_id == aborted.producer_id)
    at = rng.randint(last + 1, len(mine))
    left = replace(aborted, offset=at, batch_offset=at)
    insert(history, left)
    return left


def _written(history: Synthetic) -> list[Place]:
    return [place for place in history.places() if end_of(history, place).high_watermark > 0]
