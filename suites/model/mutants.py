"""Models that are wrong in one rule each: the grid, or the search of orders, must tell each from the model.

A mutant puts another function in the place of one rule while it is :meth:`~Mutant.in_force`.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any
from unittest.mock import patch

from harness.model import coordinator_model, leader_model
from harness.model.groups import group_model
from harness.model.model_requests import ModelAnswer, TxnOffsetCommitAsked
from harness.model.model_state import NONE, CoordinatorState, PartitionLog

COORDINATOR, LEADER, GROUPS = coordinator_model, leader_model, group_model


@dataclass(frozen=True, slots=True)
class Mutant:
    """One rule altered.

    :param says: What the wrong model says. :param change: Makes the wrong rule of the right one.
    :param in_order: Whether a request after the other shows it; else only a message that comes in between.
    """

    says: str
    module: ModuleType
    rule: str
    change: Callable[[Callable[..., Any]], Callable[..., Any]]
    in_order: bool = True

    def in_force(self) -> AbstractContextManager[object]:
        """While the block lasts, the rule is the wrong one."""
        return patch.object(self.module, self.rule, self.change(getattr(self.module, self.rule)))


def _always(value: object) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return lambda _rule: lambda *_given, **_named: value


def _then(change: Callable[[Any], Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """What the rule gives, changed."""
    return lambda rule: lambda *given, **named: change(rule(*given, **named))


def _without_epoch_bump(rule: Callable[..., Any]) -> Callable[..., Any]:
    def ended(known: Any, asked: Any, fresh: int) -> Any:
        answer, after = rule(known, asked, fresh)
        return answer, after if after is known else replace(after, epoch=known.epoch)

    return ended


def _always_bumping(rule: Callable[..., Any]) -> Callable[..., Any]:
    def ended(known: Any, asked: Any) -> Any:
        answer, after = rule(known, asked)
        return answer, after if after is known else replace(after, epoch=known.epoch + 1)

    return ended


def _asked_as(**changes: Callable[[Any], object]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The rule, asked for something else: each field by what is known."""

    def change(rule: Callable[..., Any]) -> Callable[..., Any]:
        def changed(known: Any, asked: Any, *given: Any, **named: Any) -> Any:
            values = {} if known is None else {name: value(known) for name, value in changes.items()}
            return rule(known, replace(asked, **values), *given, **named)

        return changed

    return change


def _bumped(known: Any, *_given: Any) -> Any:
    return replace(known, epoch=known.epoch + 1)


def _same_epoch(rule: Callable[..., Any]) -> Callable[..., Any]:
    return lambda known, *given, **named: replace(rule(known, *given, **named), epoch=known.epoch)


def _kept(known: Any, *_given: Any, **_named: Any) -> Any:
    after = replace(known, state=CoordinatorState.EMPTY)
    return ModelAnswer(producer_id=known.producer_id, epoch=known.epoch), after


def _keeps_partitions(rule: Callable[..., Any]) -> Callable[..., Any]:
    return lambda known: replace(rule(known), partitions=known.ending)


def _open(known: Any, *_given: Any) -> bool:
    return known.open_since is not None


def _first_given(answer: Any, *_given: Any, **_named: Any) -> Any:
    return answer


def _second_given(_asked: Any, refused: Any) -> Any:
    return refused


def _forgets_batches(given: tuple[ModelAnswer, PartitionLog]) -> tuple[ModelAnswer, PartitionLog]:
    answer, log = given
    producers = {id_: replace(known, batches=()) for id_, known in log.producers.items()}
    return answer, replace(log, producers=type(log.producers)(producers))


def _leaves_open(rule: Callable[..., Any]) -> Callable[..., Any]:
    def marked(log: PartitionLog, asked: Any, profile: Any) -> Any:
        answer, after = rule(log, asked, profile)
        open_since = log.known(asked.producer_id).open_since
        known = replace(after.known(asked.producer_id), open_since=open_since)
        return answer, replace(after, producers=after.producers.put(asked.producer_id, known))

    return marked


def _keeps_verification(rule: Callable[..., Any]) -> Callable[..., Any]:
    def marked(log: PartitionLog, asked: Any, profile: Any) -> Any:
        answer, after = rule(log, asked, profile)
        return answer, replace(after, verifications=log.verifications)

    return marked


def _with_profile(**changes: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The rule of a release that differs so; the profile is the last thing that it is given."""
    return lambda rule: lambda *given: rule(*given[:-1], replace(given[-1], **changes))


def _any_coordinator(rule: Callable[..., Any]) -> Callable[..., Any]:
    def marked(log: PartitionLog, asked: Any, profile: Any) -> Any:
        known = log.known(asked.producer_id)
        epoch = max(asked.coordinator_epoch, known.coordinator_epoch)
        return rule(log, replace(asked, coordinator_epoch=epoch), profile)

    return marked


def _no_repetitions(rule: Callable[..., Any]) -> Callable[..., Any]:
    def written(log: PartitionLog, asked: Any, number: int, profile: Any) -> Any:
        known = log.known(asked.producer_id)
        batches = tuple(batch for batch in known.batches if batch[0] != asked.sequence)
        if batches == known.batches:
            return rule(log, asked, number, profile)
        producers = log.producers.put(asked.producer_id, replace(known, batches=batches))
        return rule(replace(log, producers=producers), asked, number, profile)

    return written


def _only_told(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The answer without the effect."""

    def told(known: Any, *given: Any, **named: Any) -> Any:
        answer, _ = rule(known, *given, **named)
        return answer, known

    return told


def _of_offsets(value: object) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The same for every TxnOffsetCommit, and the rule for what is produced."""

    def change(rule: Callable[..., Any]) -> Callable[..., Any]:
        return lambda asked, *given: value if isinstance(asked, TxnOffsetCommitAsked) else rule(asked, *given)

    return change


def _replays_as(*, commit: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def change(rule: Callable[..., Any]) -> Callable[..., Any]:
        def replayed(group: Any, at: int, entry: Any) -> Any:
            return rule(group, at, entry if entry.marker is None else replace(entry, marker=commit))

        return replayed

    return change


def _leaves_pending(rule: Callable[..., Any]) -> Callable[..., Any]:
    def replayed(group: Any, at: int, entry: Any) -> Any:
        after = rule(group, at, entry)
        return after if entry.marker is None else replace(after, pending=group.pending)

    return replayed


def _shown_at_once(rule: Callable[..., Any]) -> Callable[..., Any]:
    def replayed(group: Any, at: int, entry: Any) -> Any:
        after = rule(group, at, entry)
        return after if entry.marker is not None else replace(after, committed=after.pending[entry.producer_id])

    return replayed


def _replaced(wrong: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return lambda _rule: wrong


OWN_EPOCH = _asked_as(epoch=lambda known: known.epoch)
OWN_ID = _asked_as(producer_id=lambda known: known.producer_id)
ITS_PARTITIONS = _asked_as(partitions=lambda known: known.partitions)
ANY_DURATION = _asked_as(duration_ms=lambda _known: NONE)
OLD_GROUPS = _with_profile(new_group_coordinator=False)
FORGETS_LAST_EPOCH = _then(lambda known: replace(known, last_epoch=NONE))
ANY_LOWEST = _then(lambda verification: replace(verification, lowest_sequence=99))

OF_PRODUCERS: Sequence[Mutant] = (
    Mutant("a new instance keeps the epoch", COORDINATOR, "_next_epoch", _replaced(_kept)),
    Mutant("a new instance does not end the open transaction", COORDINATOR, "fenced", _replaced(_bumped)),
    Mutant("an open transaction is ended without a new epoch", COORDINATOR, "fenced", _same_epoch),
    Mutant("an abort by the coordinator forgets the last epoch", COORDINATOR, "fenced", FORGETS_LAST_EPOCH),
    Mutant("an abort by the coordinator bumps twice", COORDINATOR, "fenced", _with_profile(fence_bumps_twice=True)),
    Mutant("any identity may be claimed", COORDINATOR, "_may_claim", _always(value=True)),
    Mutant("no identity may be claimed", COORDINATOR, "_may_claim", _always(value=False)),
    Mutant("old clients are told PRODUCER_FENCED", COORDINATOR, "_named_for", _replaced(_first_given)),
    Mutant("a partition is added in any epoch", COORDINATOR, "_added", OWN_EPOCH),
    Mutant("a partition is added for any producer id", COORDINATOR, "_added", OWN_ID),
    Mutant("a partition is verified in any epoch", COORDINATOR, "_verified", OWN_EPOCH),
    Mutant("every partition is verified", COORDINATOR, "_verified", ITS_PARTITIONS),
    Mutant("an old client ends in any epoch", COORDINATOR, "_ended_old", OWN_EPOCH),
    Mutant("an old client's end bumps the epoch", COORDINATOR, "_ended_old", _always_bumping),
    Mutant("a new client's end does not bump the epoch", COORDINATOR, "_ended_new", _without_epoch_bump),
    Mutant("an end of no transaction is accepted", COORDINATOR, "_repeated", _always(ModelAnswer())),
    Mutant("a repeated end is refused", COORDINATOR, "_repeated", _always(coordinator_model.WRONG_STATE)),
    Mutant("commits become aborts", COORDINATOR, "_prepare", _always(CoordinatorState.PREPARE_ABORT)),
    Mutant("an ended transaction keeps its partitions", COORDINATOR, "completed", _keeps_partitions),
    Mutant("nothing is verified", LEADER, "received", _with_profile(verifies=False)),
    Mutant("an unverified write is appended", LEADER, "_confirmed", _always(value=True), in_order=False),
    Mutant("an open transaction counts in every epoch", LEADER, "_ongoing", _replaced(_open)),
    Mutant("every write is verified anew", LEADER, "_ongoing", _always(value=False)),
    Mutant("old epochs are asked about", LEADER, "received", _with_profile(refuses_old_epochs_first=False)),
    Mutant("sequences are not looked at", LEADER, "_in_order", _always(value=True)),
    Mutant("a first write may have any sequence", LEADER, "_in_order", _with_profile(first_sequence_is_zero=False)),
    Mutant("a verification keeps no lowest sequence", LEADER, "_begun", ANY_LOWEST),
    Mutant("repetitions are not known", LEADER, "written", _no_repetitions),
    Mutant("a coordinator's refusal is passed on as it is", LEADER, "translated", _replaced(_second_given)),
    Mutant("a marker leaves the transaction open", LEADER, "marked", _leaves_open),
    Mutant("a marker leaves the verification", LEADER, "marked", _keeps_verification),
    Mutant("a marker forgets the batches", LEADER, "marked", _then(_forgets_batches)),
    Mutant("a marker may have the epoch of its records", LEADER, "marked", _with_profile(strict_markers=False)),
    Mutant("a marker of any coordinator is taken", LEADER, "marked", _any_coordinator),
)
OF_GROUPS_AND_LISTS: Sequence[Mutant] = (
    Mutant("an id is listed in every state", COORDINATOR, "listed", _asked_as(states=lambda _known: ())),
    Mutant("an id is listed for every producer id", COORDINATOR, "listed", OWN_ID),
    Mutant("an id is listed however short it is open", COORDINATOR, "listed", ANY_DURATION),
    Mutant("offsets add no partition", GROUPS, "add_offsets", _only_told),
    Mutant("offsets are not verified", LEADER, "verified", _of_offsets(value=False)),
    Mutant("offsets of a new client are not added", LEADER, "is_new", _of_offsets(value=False)),
    Mutant("offsets of an old client are added", LEADER, "is_new", _of_offsets(value=True)),
    Mutant("whoever commits offsets knows TRANSACTION_ABORTABLE", LEADER, "knows_abortable", _of_offsets(value=True)),
    Mutant("a generation needs no member", GROUPS, "_no_member", _always(None)),
    Mutant("an unknown group is one without the member", GROUPS, "_no_member", OLD_GROUPS),
    Mutant("an offset needs no open transaction", GROUPS, "not_part_of_it", _always(None), in_order=False),
    Mutant("a pending offset is shown", GROUPS, "replayed", _shown_at_once),
    Mutant("an aborted offset is shown", GROUPS, "replayed", _replays_as(commit=True)),
    Mutant("a committed offset is not shown", GROUPS, "replayed", _replays_as(commit=False)),
    Mutant("an offset stays pending after its marker", GROUPS, "replayed", _leaves_pending),
)
MUTANTS: Sequence[Mutant] = (*OF_PRODUCERS, *OF_GROUPS_AND_LISTS)
