"""Plants in what readers delivered: the log is as it should be, and one reader saw something else."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from harness.history.operation import LogRecord, Outcome, Read
from suites.selfcheck.histories.doctoring import numbered, segments, stories, swap, value_of, without
from suites.selfcheck.histories.in_remains import late_record_stays_open
from suites.selfcheck.histories.synthetic import READERS, TXNS, Synthetic

NOBODY = TXNS - 2


def delivers_what_nobody_wrote(history: Synthetic, rng: Random) -> bool:
    """A reader delivers a value of no operation, where the log has a marker."""
    markers = [record for record in history.log if record.control is not None]
    value = rng.choice((f"{history.number * TXNS + NOBODY}/0/1/", "something else"))
    _deliver(history, rng, replace(rng.choice(markers), value=value))
    return True


def delivers_another_payload(history: Synthetic, rng: Random) -> bool:
    """A reader delivers another payload than the one that was written."""
    read = rng.choice(history.reads)
    value = value_of(read)
    swap(history.reads, read, replace(read, value=str(replace(value, payload=value.payload + "!"))))
    return True


def delivers_an_open_record(history: Synthetic, rng: Random) -> bool:
    """A reader delivers the record of a segment that was never ended."""
    if not late_record_stays_open(history, rng):
        return False
    _deliver(history, rng, _open_record(history))
    return True


def delivers_an_aborted_record(history: Synthetic, rng: Random) -> bool:
    """A reader delivers a record of an aborted segment."""
    aborted = [record for segment in segments(history) if not segment.committed for record in segment.records]
    if not aborted:
        return False
    _deliver(history, rng, rng.choice(aborted))
    return True


def delivers_twice(history: Synthetic, rng: Random) -> bool:
    """A reader delivers one offset twice."""
    read = rng.choice([read for read in history.reads if read.reader in _names(history)])
    history.reads.insert(history.reads.index(read) + 1, replace(read))
    history.reads = numbered(history.reads)
    return True


def passes_over_a_transaction(history: Synthetic, rng: Random) -> bool:
    """A reader delivers nothing of a committed transaction."""
    return _passes_over(history, rng, least=1)


def passes_over_a_record(history: Synthetic, rng: Random) -> bool:
    """A reader delivers only some of a committed transaction."""
    return _passes_over(history, rng, least=2)


def _passes_over(history: Synthetic, rng: Random, *, least: int) -> bool:
    found = [
        story
        for story in stories(history, probes=True)
        if story.acknowledged and story.ended("commit", Outcome.DONE) and len(story.records) >= least
    ]
    if not found:
        return False
    records = rng.choice(found).records
    gone = records if least == 1 else rng.sample(records, rng.randint(1, len(records) - 1))
    reader = rng.choice(_names(history))
    places = {(record.topic, record.partition, record.offset) for record in gone}
    without(
        history,
        [
            read
            for read in history.reads
            if read.reader == reader and (read.topic, read.partition, read.offset) in places
        ],
    )
    return True


def _deliver(history: Synthetic, rng: Random, record: LogRecord) -> None:
    """One of the readers delivers ``record``, at its place among those of its partition."""
    name = rng.choice(_names(history))
    read = Read(
        reader=name,
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        value=str(record.value),
        position=None if name.endswith("spark") else 0,
    )
    behind = [
        nth
        for nth, one in enumerate(history.reads)
        if one.reader == name
        and (one.topic, one.partition) == (record.topic, record.partition)
        and one.offset < record.offset
    ]
    mine = [nth for nth, one in enumerate(history.reads) if one.reader == name]
    history.reads.insert(max(behind, default=mine[0] - 1 if mine else len(history.reads) - 1) + 1, read)
    history.reads = numbered(history.reads)


def _names(history: Synthetic) -> Sequence[str]:
    return [history.name + kind for kind in READERS]


def _open_record(history: Synthetic) -> LogRecord:
    ended = [record for segment in segments(history) for record in segment.records]
    (left,) = (record for record in history.log if record.control is None and record not in ended)
    return left
