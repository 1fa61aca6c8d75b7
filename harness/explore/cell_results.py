"""What was answered and seen in a cell, in the model's words, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from harness.explore.looks.group_look import ShownOffset
from harness.model.coordinator_log import Records
from harness.model.grid import GridCell
from harness.model.model_requests import ModelAnswer
from harness.model.model_state import NONE, LogEntry


class SeenStart(StrEnum):
    """Of an open transaction, in milliseconds since 1970; what is not open is not compared."""

    KEPT = "kept"
    MOVED = "moved"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenId:
    """What DescribeTransactions shows of a transactional id.

    :param timeout_ms: NONE for the one that the cell's path asks for.
    :param start: Whether an open transaction has a start, and still the one that it was shown with at first.
    """

    error: str = "NONE"
    state: str = ""
    producer_id: int = NONE
    epoch: int = NONE
    partitions: frozenset[str] = frozenset()
    timeout_ms: int = NONE
    start: SeenStart = SeenStart.KEPT


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenProducer:
    """What DescribeProducers shows of a producer.

    :param open_since: Which of the cell's entries its open transaction began with; None where none is open, and
        :data:`NOT_THE_CELLS` for the offset of another one.
    """

    producer_id: int
    epoch: int
    last_sequence: int = NONE
    open_since: int | None = None
    coordinator_epoch: int = NONE


NOT_THE_CELLS = -2


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenLog:
    """A partition, as far as it is the cell's: its producers, and their entries in order."""

    producers: tuple[SeenProducer, ...] = ()
    entries: tuple[LogEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CellSeen:
    """The answer to what was asked, and the look after it.

    :param groups: Where the cell has one. :param waited: The answer to a write that was under way meanwhile.
    :param records: What coordinators have written, by id; None where that was not looked at.
    """

    answer: ModelAnswer
    ids: Mapping[str, SeenId]
    logs: Mapping[str, SeenLog]
    groups: Mapping[str, ShownOffset] = field(default_factory=dict)
    waited: ModelAnswer | None = None
    records: Records | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSeen:
    """A line of ``seen.jsonl``: what was seen in a cell, so that it can be compared again, with another model too.

    Records of coordinators are not kept: they are most of what is seen, and follow from the rest.
    """

    cell: int
    seen: CellSeen


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing that is not as the model says.

    :param part: ``answer``, ``identity``, ``coordinator of own``, ``leader of A``, ``log of A``, ``LSO of A``,
        ``offset of G``, ``records of own``, or ``step 3`` of the path.
    """

    part: str
    expected: str
    seen: str


class CellOutcome(StrEnum):
    AGREES = "agrees"
    DIFFERS = "differs"
    NOT_REACHED = "not reached"


@dataclass(frozen=True, slots=True, kw_only=True)
class CellExchange:
    """A request as it was sent, and the answer to it; or what happened beside requests, which was sent to nobody.

    :param asked: In the model's words. :param sent: With real names and numbers.
    :param tries: How often it was sent, after answers that pass.
    """

    asked: str
    sent: str
    node: int
    version: int
    answered: str
    tries: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """A line of ``cells.jsonl``; of a cell that agrees the exchanges are not kept.

    :param why: Of a cell that was not reached, or of a difference that is explained.
    :param steps: Of the path.
    """

    cell: int
    state: str
    request: str
    outcome: CellOutcome
    steps: int
    why: str = ""
    differences: tuple[Difference, ...] = ()
    exchanges: tuple[CellExchange, ...] = ()
    explained: str | None = None


def not_reached(number: int, cell: GridCell, why: str) -> CellResult:
    """Of a cell in which nothing could be compared."""
    return CellResult(
        cell=number,
        state=cell.state,
        request=cell.request,
        outcome=CellOutcome.NOT_REACHED,
        steps=len(cell.path),
        why=why,
    )
