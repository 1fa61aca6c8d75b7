"""What coordinators write into ``__transaction_state`` on a path: a record for each state that an id comes to.

No answer shows these records, and the next coordinator reads nothing else of the id. Sources: KIP-98 §4,
``TransactionLog.valueToBytes``, ``TransactionMetadata.prepareTransitionTo``; for the tagged fields KIP-890 part 2.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from harness.model import protocol_step as step
from harness.model.coordinator_model import TAGGED_RECORDS
from harness.model.events.model_event import (
    EpochsUsedUp,
    ModelEvent,
    ModelStep,
    TimeoutPasses,
    after_event,
    markers_wait,
)
from harness.model.events.write_events import let_go, waiting_write
from harness.model.grid import GridCell
from harness.model.model_state import NONE, Coordinated, CoordinatorState, ModelCluster, fresh_cluster
from harness.model.protocol_profile import ProtocolProfile

TAGGED = 1
"""The layout with tagged fields."""
NEW_CLIENT = 2
"""``transaction.version`` of a client of the new protocol; that of an old one is 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorRecord:
    """One record; times are left out.

    :param layout: Of the value: 0, or :data:`TAGGED`, which alone has the three fields that come last here.
    :param timeout_ms: NONE for the one that paths ask for. :param partitions: All that the transaction has.
    :param previous_id: The producer id before this change. :param next_id: The one behind an overflow of the epoch.
    :param client_version: Of the client that moved the transaction last.
    """

    layout: int
    state: str
    producer_id: int
    epoch: int
    timeout_ms: int = NONE
    partitions: frozenset[str] = frozenset()
    previous_id: int = NONE
    next_id: int = NONE
    client_version: int = 0


Records = Mapping[str, tuple[CoordinatorRecord, ...]]


def without_repetitions(records: Iterable[CoordinatorRecord]) -> tuple[CoordinatorRecord, ...]:
    """One that says what the one before it says is left out: a repeated InitProducerId is written once more."""
    kept: list[CoordinatorRecord] = []
    for each in records:
        if not kept or kept[-1] != each:
            kept.append(each)
    return tuple(kept)


def records_of(cell: GridCell, profile: ProtocolProfile) -> Records:
    """By transactional id, everything that is written of it in a cell, once all is let go."""
    before, found = _of_path(cell.path, frozenset(cell.before.logs), profile)
    after = step.outcomes(before, cell.asked, profile)[0].after
    passed = [after, done := step.settled(after, profile)]
    if (write := waiting_write(cell.path)) is not None:
        passed += [left := let_go(before, done, write, profile).after, step.settled(left, profile)]
    return _with(found, (before, *passed), profile)


@lru_cache(maxsize=1 << 12)
def _of_path(
    path: tuple[ModelStep, ...], partitions: frozenset[str], profile: ProtocolProfile
) -> tuple[ModelCluster, Records]:
    """With the state that the path leads to; many cells have the same one."""
    cluster, found = fresh_cluster(*sorted(partitions)), dict[str, tuple[CoordinatorRecord, ...]]()
    for index, one in enumerate(path):
        passed = _passed(cluster, one, profile, held=markers_wait(path[:index]))
        if isinstance(one, EpochsUsedUp):
            found[one.id] = (*found[one.id], _used_up(cluster.ids[one.id], one))
        else:
            found = dict(_with(found, (cluster, *passed), profile))
        cluster = passed[-1]
    return cluster, found


def _passed(cluster: ModelCluster, one: ModelStep, profile: ProtocolProfile, *, held: bool) -> tuple[ModelCluster, ...]:
    """The states that a step goes through, the one after it last."""
    if isinstance(one, TimeoutPasses):
        aborted = step.timed_out(cluster, one.id, profile)
        return (cluster,) if aborted is None else (aborted, step.settled(aborted, profile))
    if isinstance(one, ModelEvent):
        return (after_event(cluster, one, profile),)
    after = step.outcomes(cluster, one, profile)[0].after
    return (after,) if held else (after, step.settled(after, profile))


def _with(found: Records, passed: Sequence[ModelCluster], profile: ProtocolProfile) -> Records:
    """And what is written on the way from the first of these states to the last."""
    more = {name: list(records) for name, records in found.items()}
    for before, after in pairwise(passed):
        for name, known in after.ids.items():
            record, knew = _record(known, profile), before.ids.get(name)
            if knew is None or record != _record(knew, profile):
                more.setdefault(name, []).append(record)
    return {name: tuple(records) for name, records in more.items()}


def _record(known: Coordinated, profile: ProtocolProfile) -> CoordinatorRecord:
    """``TransactionMetadata.prepareTransitionTo`` names the producer id that it finds as the previous one."""
    tagged = profile.level >= TAGGED_RECORDS
    named = tagged and profile.records_name_ids
    previous = known.producer_id if known.previous_id == NONE else known.previous_id
    return CoordinatorRecord(
        layout=TAGGED if tagged else 0,
        state=str(known.state),
        producer_id=known.producer_id,
        epoch=known.epoch,
        timeout_ms=known.timeout_ms,
        partitions=known.ending if known.state.preparing else known.partitions,
        previous_id=previous if named else NONE,
        next_id=known.next_id if named else NONE,
        client_version=NEW_CLIENT if tagged and known.new_protocol else 0,
    )


def _used_up(known: Coordinated, event: EpochsUsedUp) -> CoordinatorRecord:
    """Written by the exploration itself, in the layout that every release reads."""
    return CoordinatorRecord(layout=0, state=CoordinatorState.EMPTY, producer_id=known.producer_id, epoch=event.epoch)
