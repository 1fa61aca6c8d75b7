"""The files of situations in a round's folder: what they are derived from, and what was found."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.atomic_write import write_atomically
from harness.evidence.json_codec import from_json_file, part_of_json, to_json
from harness.evidence.json_lines import torn_last_line
from harness.evidence.situations.named import named
from harness.evidence.situations.recorded import FaultMoment, RoundRecords, UnderWay
from harness.evidence.situations.situation import Situation, wanted
from harness.evidence.situations.visited import Visits

RECORDED = "recorded_situations.json"
"""What a round noted beside its history: the coordinators' log, when faults struck, what the gate held."""
FOUND = "situations.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A situation of the table with the number of moments that show it."""

    situation: Situation
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedVisit:
    """A situation that has a name, likewise, with the fault that struck in it."""

    name: str
    fault: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundSituations:
    """What a round visited.

    :param faults: The toxics that could strike, each with the requests that it strikes; none for whatever is there.
    :param groups: Whether its workload has a consumer group.
    :param lacking: Why nothing can be said of states, in a sentence; else empty.
    """

    faults: Mapping[str, tuple[str, ...]]
    groups: bool
    visits: tuple[Visit, ...] = ()
    named: tuple[NamedVisit, ...] = ()
    lacking: str = ""

    @property
    def wanted(self) -> frozenset[Situation]:
        """What it may show."""
        return wanted(self.faults, groups=self.groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRecords:
    """The first file."""

    faults: Mapping[str, tuple[str, ...]]
    groups: bool
    recorded: RoundRecords
    lacking: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationTimes:
    """What is read of an :class:`harness.evidence.history.operation.Operation`."""

    actor: str
    verb: str
    started: float
    ended: float
    transactional_id: str | None = None
    topic: str | None = None
    partition: int | None = None


def keep_records(folder: Path, kept: KeptRecords) -> None:
    """Write the first file, whole."""
    write_atomically(folder / RECORDED, to_json(kept))


def count_situations(folder: Path) -> None:
    """Derive what the round visited and write it; a folder without the first file stays as it is."""
    path = folder / RECORDED
    if not path.is_file():
        return
    kept = part_of_json(KeptRecords, path.read_bytes())
    beside = tuple(_operations(folder / "history" / "operations.jsonl", kept.recorded.moments))
    write_atomically(folder / FOUND, to_json(found_situations(kept, beside)))


def found_situations(kept: KeptRecords, operations: tuple[UnderWay, ...]) -> RoundSituations:
    """What the records show; pure."""
    visits = Visits(replace(kept.recorded, operations=operations))
    return RoundSituations(
        faults=kept.faults,
        groups=kept.groups,
        visits=tuple(Visit(situation=each, times=times) for each, times in sorted(visits.situations().items())),
        named=tuple(
            NamedVisit(name=name, fault=fault, times=times) for (name, fault), times in sorted(named(visits).items())
        ),
        lacking=kept.lacking,
    )


def read_situations(folder: Path) -> RoundSituations | None:
    """What a round visited; None where that was not recorded. :raises Malformed: when the file cannot be read."""
    return from_json_file(RoundSituations, folder / FOUND)


def _operations(path: Path, moments: tuple[FaultMoment, ...]) -> Iterator[UnderWay]:
    """Those that were under way at a moment at which a fault struck everything; a torn last line is none."""
    wide = [(moment.since, moment.upto) for moment in moments if not moment.api]
    if not wide or not path.is_file():
        return
    lines = path.read_bytes().splitlines()
    for line in lines[:-1] if torn_last_line(path) else lines:
        each = part_of_json(OperationTimes, line)
        if each.transactional_id and any(each.started <= since and each.ended >= upto for since, upto in wide):
            yield _under_way(each)


def _under_way(each: OperationTimes) -> UnderWay:
    written = each.verb == "produce" and each.topic is not None and each.partition is not None
    return UnderWay(
        actor=each.actor,
        transactional_id=each.transactional_id or "",
        verb=each.verb,
        started=each.started,
        ended=each.ended,
        partition=f"{each.topic}-{each.partition}" if written else "",
    )
