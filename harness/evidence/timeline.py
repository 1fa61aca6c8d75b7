"""What a picture of a chaos run needs, small whatever the size of the history: plain values in ``timeline.json``.

Made by :mod:`harness.spark.history.timeline_frames`, drawn by :mod:`harness.report.chaos`. Times are run-clock
milliseconds. Whatever is left out is counted beside what is kept, so that a picture can say what it does not show.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.atomic_write import write_whole
from harness.evidence.json_codec import Malformed, from_json, to_json
from harness.evidence.operation import FaultWindow, Outcome, Phase, Verb

TIMELINE = "timeline.json"
"""Its place in a round's folder."""

OPERATIONS_KEPT = 1_500
LEVELS_KEPT = 400
"""Points a partition."""
PARTITIONS_KEPT = 48
ACTORS_KEPT = 1_000
WINDOWS_KEPT = 200
"""Faults, and phases."""
STRETCHES = 600
"""Stretches of throughput; a run of more seconds has longer ones."""
TALLIES_KEPT = 60

_SUCCESSOR = re.compile(r"\.\d+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnOperation:
    """An operation that the picture shows; ``place`` is ``topic-partition``."""

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
    """When an actor was on the stage, from its first operation to its last, and what became of them."""

    actor: str
    client: str
    started: float
    ended: float
    operations: int
    refused: int
    unsure: int

    @property
    def role(self) -> str:
        """The part that it and its successors play: ``teller-1`` of ``teller-1.3``."""
        return role_of(self.actor)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatermarkPoint:
    """High watermark and last stable offset at one moment."""

    at: float
    high_watermark: int
    last_stable_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WatermarkLine:
    """A partition's levels over time.

    :param samples: How many there were before the thinning; of each stretch the last sample and the widest gap stay.
    :param end: What the broker said after settling; None where it was not asked.
    """

    topic: str
    partition: int
    points: tuple[WatermarkPoint, ...]
    samples: int
    end: WatermarkPoint | None = None

    @property
    def behind(self) -> int:
        """Offsets from the last stable offset to the high watermark at the end of what is known."""
        last = self.end or (self.points[-1] if self.points else None)
        return last.high_watermark - last.last_stable_offset if last else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """What ended within a stretch that begins at ``at``: committed transactions, acknowledged records, and trouble."""

    at: float
    txns: int
    records: int
    refused: int
    unsure: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """How long a verb's operations took that began in phases of one name, in ms; ``phase`` is empty outside all."""

    verb: Verb
    phase: str
    count: int
    p50: float
    p95: float
    p99: float
    longest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeCount:
    """How many operations of a verb ended so; ``reason`` is that of one of them."""

    verb: Verb
    outcome: Outcome
    error: int | None
    count: int
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The run at a glance.

    :param operations: How many the history has; ``drawn`` keeps at most OPERATIONS_KEPT of them, first of all those
        that were not done.
    :param drawable: How many there were to choose from: all but ``begin`` and polls that brought nothing.
    :param stretch_ms: Length of a stretch of ``paces``.
    :param actors_in_all: Before the cut at ACTORS_KEPT; likewise the partitions, faults and phases.
    """

    started: float
    ended: float
    operations: int
    drawable: int
    committed: int
    drawn: tuple[DrawnOperation, ...] = ()
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
    notes: tuple[str, ...] = field(default=())


def role_of(actor: str) -> str:
    """The role of an actor: its name without the successor's number.

    >>> role_of("teller-1.3"), role_of("teller-1")
    ('teller-1', 'teller-1')
    """
    return _SUCCESSOR.sub("", actor) or actor


def save_timeline(folder: Path, timeline: Timeline) -> Path:
    """Write ``timeline.json``, whole or not at all; its path."""
    return write_whole(folder / TIMELINE, to_json(timeline) + "\n")


def load_timeline(folder: Path) -> Timeline | None:
    """Read it back; None where the folder has none.

    :raises Malformed: When it is there and cannot be read.
    """
    path = folder / TIMELINE
    if not path.is_file():
        return None
    try:
        return from_json(Timeline, path.read_bytes())
    except Malformed as error:
        raise Malformed(f"{TIMELINE}: {error}") from error
