"""What the picture of a chaos run shows, bounded in size: plain values in ``timeline.json``.

Made by :mod:`harness.spark.history.timeline_frames`, shown by :mod:`harness.report.chaos`. Times are milliseconds on
the run's clock. Whatever is left out is counted beside what is kept, so that a picture can say what it does not show.
The fields are named as in the file.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from harness.base.atomic_write import write_atomically
from harness.evidence.history.operation import FaultWindow, Outcome, Phase, Verb
from harness.evidence.history.spreads import Interruption, StableOffsetLag
from harness.evidence.json_codec import from_json_file, to_json

TIMELINE = "timeline.json"
"""The file's name in a round's folder."""

OPERATIONS_KEPT = 1_500
POINTS_KEPT = 400
"""Points of one partition."""
PARTITIONS_KEPT = 48
ACTORS_KEPT = 1_000
WINDOWS_KEPT = 200
"""Of faults, and of phases."""
INTERVALS = 600
"""Intervals of throughput, of a second each; a run of more seconds has longer ones."""
OUTCOMES_KEPT = 60

_SUCCESSOR_NUMBER = re.compile(r"\.\d+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineOperation:
    """An operation in the picture; ``place`` is ``topic-partition``."""

    number: int
    actor: str
    verb: Verb
    outcome: Outcome
    started: float
    ended: float
    error: int | None = 0
    reason: str = ""
    txn: int | None = None
    place: str | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorSpan:
    """An actor from its first operation to its last, and how many of them were refused or unsure."""

    actor: str
    client: str
    started: float
    ended: float
    operations: int
    refused: int
    unsure: int

    @property
    def role(self) -> str:
        """The name that it shares with its successors: ``teller-1`` of ``teller-1.3``."""
        return role_of(self.actor)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatermarkPoint:
    """High watermark and last stable offset at one moment."""

    at: float
    high_watermark: int
    last_stable_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WatermarkLine:
    """A partition's high watermark and last stable offset over time.

    :param samples: How many samples the history has; of each interval the last and the widest gap are kept.
    :param end: What the broker said after settling; None where it was not asked.
    """

    topic: str
    partition: int
    points: tuple[WatermarkPoint, ...]
    samples: int
    end: WatermarkPoint | None = None

    @property
    def last_stable_offset_lag(self) -> int:
        """By how many offsets the last stable offset is behind the high watermark, at the last moment that is known."""
        last = self.end or (self.points[-1] if self.points else None)
        return last.high_watermark - last.last_stable_offset if last else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """What ended in the interval from ``at``: committed transactions, acknowledged records, refused and unsure ones."""

    at: float
    txns: int
    records: int
    refused: int
    unsure: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """How long a verb's operations took that began in phases of one name, in milliseconds; no phase is ``""``."""

    verb: Verb
    phase: str
    count: int
    p50: float
    p95: float
    p99: float
    longest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeCount:
    """How many operations of a verb had one outcome and error; ``reason`` is that of one of them."""

    verb: Verb
    outcome: Outcome
    error: int | None
    count: int
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The picture of a run.

    :param operations: How many operations the history has.
    :param drawable: How many can be shown: all but ``begin`` and polls that returned nothing.
    :param committed: How many transactions were committed.
    :param drawn: At most OPERATIONS_KEPT of the ``drawable``, first of all those that were not done.
    :param actors_in_all: How many there are, of which ACTORS_KEPT are in ``actors``; likewise partitions and faults.
    :param levels: Watermarks, one line for each partition.
    :param stretch_ms: Length of an interval of ``paces``.
    :param paces: Throughput, interval by interval.
    :param tallies: Outcomes of operations, the most frequent first.
    :param interruptions: What faults were to clients; None in a timeline of before they were measured, as ``lags``.
    :param notes: What limits the picture, one sentence each.
    """

    started: float
    ended: float
    operations: int
    drawable: int
    committed: int
    drawn: tuple[TimelineOperation, ...] = ()
    actors: tuple[ActorSpan, ...] = ()
    actors_in_all: int = 0
    levels: tuple[WatermarkLine, ...] = ()
    partitions_in_all: int = 0
    stretch_ms: float = 1_000.0
    paces: tuple[Throughput, ...] = ()
    latencies: tuple[Latency, ...] = ()
    tallies: tuple[OutcomeCount, ...] = ()
    faults: tuple[FaultWindow, ...] = ()
    faults_in_all: int = 0
    phases: tuple[Phase, ...] = ()
    interruptions: tuple[Interruption, ...] | None = None
    lags: tuple[StableOffsetLag, ...] | None = None
    notes: tuple[str, ...] = ()


def role_of(actor: str) -> str:
    """The name that an actor shares with its successors: without the number at its end.

    >>> role_of("teller-1.3"), role_of("teller-1")
    ('teller-1', 'teller-1')
    """
    return _SUCCESSOR_NUMBER.sub("", actor) or actor


def save_timeline(folder: Path, timeline: Timeline) -> Path:
    """Write ``timeline.json``, whole or not at all; its path."""
    return write_atomically(folder / TIMELINE, to_json(timeline))


def load_timeline(folder: Path) -> Timeline | None:
    """Read it back; None where the folder has none; :raises Malformed: when it is there and cannot be read."""
    return from_json_file(Timeline, folder / TIMELINE)
