"""A log as a plan: which producer writes what, and how each transaction ends.

The lab writes it (:mod:`harness.lab.clients.planned_log`), and the same plan is the log of evidence by hand; a check
demands that the drained log has the plan's shape (:func:`as_planned`), so that no reader is judged by another log.

::

    (wrote("A", "a1", "a2"), wrote("B", "b1"), commits("A"), aborts("B"))
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from harness.contract.doctored import PRODUCER, abort, commit, data, log
from harness.evidence.requirement_evidence import Batch, Evidence, LogTruth, Marker, NotSeen

PLAIN = "plain"
"""The producer without transactions."""


@dataclass(frozen=True, slots=True)
class Wrote:
    """A batch, a record a value; ``by`` :data:`PLAIN` it belongs to no transaction."""

    by: str
    values: tuple[str, ...]
    keys: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Ends:
    """The end of a producer's transaction; of one without a batch before it the partition is added first."""

    by: str
    commit: bool


@dataclass(frozen=True, slots=True)
class TakesOver:
    """A newer instance of the same transactional id: what the older one has open is aborted (KIP-98, 4.5)."""

    by: str
    older: str


Action: TypeAlias = Wrote | Ends | TakesOver
LogPlan: TypeAlias = Sequence[Action]


def wrote(by: str, *values: str, keys: tuple[str, ...] | None = None) -> Wrote:
    """A batch of these values."""
    return Wrote(by, values, keys)


def commits(by: str) -> Ends:
    """A COMMIT marker."""
    return Ends(by, commit=True)


def aborts(by: str) -> Ends:
    """An ABORT marker."""
    return Ends(by, commit=False)


def log_of(plan: LogPlan, *, start: int = 0) -> LogTruth:
    """The log by hand; ``start`` is where it begins after what lies before was deleted."""
    ids: dict[str, int] = {}
    batches: list[Batch] = []
    for action in plan:
        if isinstance(action, TakesOver):
            ids[action.by] = ids.setdefault(action.older, PRODUCER + len(ids))
            batches.append(abort(ids[action.by], 1))
            continue
        producer = ids.setdefault(action.by, PRODUCER + len(ids))
        match action:
            case Wrote(by=by, values=values):
                batches.append(data(producer, 0, *values, transactional=by != PLAIN))
            case Ends(commit=done):
                batches.append(commit(producer, 0) if done else abort(producer, 0))
    truth = log(*batches)
    kept = tuple(batch for batch in truth.batches if batch.last_offset >= start)
    left = {value for batch in kept for value in batch.values}
    return replace(truth, batches=kept, committed=tuple(value for value in truth.committed if value in left))


def as_planned(seen: Evidence, planned: LogTruth, partition: str = "P1") -> None:
    """The drained log has the plan's shape: batches, markers, whose they are; :raises NotSeen: where it has not."""
    if _shape(seen.log(partition)) != _shape(planned):
        raise NotSeen(f"the log of {partition} is not as it was planned")


def _shape(truth: LogTruth) -> list[tuple[int, int, Marker | None, tuple[str, ...], bool, int]]:
    """Producers are counted in the order in which they come."""
    ids = list(dict.fromkeys(batch.producer_id for batch in truth.batches))
    return [
        (each.base_offset, each.last_offset, each.control, each.values, each.transactional, ids.index(each.producer_id))
        for each in truth.batches
    ]
