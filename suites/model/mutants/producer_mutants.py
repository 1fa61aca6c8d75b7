"""Wrong models of what coordinators and leaders do with the requests of a producer."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from harness.model import coordinator_model, leader_model
from harness.model.model_requests import ModelAnswer
from harness.model.model_state import NONE, CoordinatorState, PartitionLog
from suites.model.mutants.mutant import Mutant, ShownBy, always, asked_as, replaced, then, with_profile

COORDINATOR, LEADER = coordinator_model, leader_model


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


OWN_EPOCH = asked_as(epoch=lambda known: known.epoch)
OWN_ID = asked_as(producer_id=lambda known: known.producer_id)
ITS_PARTITIONS = asked_as(partitions=lambda known: known.partitions)


def _takes_half(rule: Callable[..., Any]) -> Callable[..., Any]:
    def ruled(known: Any, asked: Any, *given: Any) -> Any:
        half = NONE in (asked.producer_id, asked.epoch)
        return rule(known, replace(asked, producer_id=NONE, epoch=NONE) if half else asked, *given)

    return ruled


def _commits_nothing(rule: Callable[..., Any]) -> Callable[..., Any]:
    def ended(known: Any, asked: Any, fresh: int) -> Any:
        nothing = known.state is not CoordinatorState.ONGOING
        return rule(known, replace(asked, commit=asked.commit and not nothing), fresh)

    return ended


ADDS = then(lambda asked: replace(asked, verify_only=False))
FORGETS_LAST_EPOCH = then(lambda known: replace(known, last_epoch=NONE))
ANY_LOWEST = then(lambda verification: replace(verification, lowest_sequence=99))

OF_PRODUCERS: Sequence[Mutant] = (
    Mutant("a new instance keeps the epoch", COORDINATOR, "_next_epoch", replaced(_kept)),
    Mutant("a new instance does not end the open transaction", COORDINATOR, "fenced", replaced(_bumped)),
    Mutant("an open transaction is ended without a new epoch", COORDINATOR, "fenced", _same_epoch),
    Mutant("an abort by the coordinator forgets the last epoch", COORDINATOR, "fenced", FORGETS_LAST_EPOCH),
    Mutant("an abort by the coordinator bumps twice", COORDINATOR, "fenced", with_profile(fence_bumps_twice=True)),
    Mutant("half an identity is none", COORDINATOR, "_init", _takes_half),
    Mutant("any identity may be claimed", COORDINATOR, "_may_claim", always(value=True)),
    Mutant("no identity may be claimed", COORDINATOR, "_may_claim", always(value=False)),
    Mutant("old clients are told PRODUCER_FENCED", COORDINATOR, "_named_for", replaced(_first_given)),
    Mutant("a partition is added in any epoch", COORDINATOR, "_added", OWN_EPOCH),
    Mutant("a partition is added for any producer id", COORDINATOR, "_added", OWN_ID),
    Mutant("a partition is verified in any epoch", COORDINATOR, "_verified", OWN_EPOCH),
    Mutant("every partition is verified", COORDINATOR, "_verified", ITS_PARTITIONS),
    Mutant("an old client ends in any epoch", COORDINATOR, "_ended_old", OWN_EPOCH),
    Mutant("an old client's end bumps the epoch", COORDINATOR, "_ended_old", _always_bumping),
    Mutant("a new client's end does not bump the epoch", COORDINATOR, "_ended_new", _without_epoch_bump),
    Mutant("a new client commits no transaction", COORDINATOR, "_begin_to_end", _commits_nothing),
    Mutant("an end of no transaction is accepted", COORDINATOR, "_repeated", always(ModelAnswer())),
    Mutant("a repeated end is refused", COORDINATOR, "_repeated", always(coordinator_model.WRONG_STATE)),
    Mutant("commits become aborts", COORDINATOR, "_prepare", always(CoordinatorState.PREPARE_ABORT)),
    Mutant("an ended transaction keeps its partitions", COORDINATOR, "completed", _keeps_partitions),
    Mutant("nothing is verified", LEADER, "received", with_profile(verifies=False)),
    Mutant("an unverified write is appended", LEADER, "_confirmed", always(value=True), shown_by=ShownBy.EVENTS),
    Mutant("a write of an old client adds its partition", LEADER, "question", ADDS),
    Mutant("an open transaction counts in every epoch", LEADER, "_ongoing", replaced(_open)),
    Mutant("every write is verified anew", LEADER, "_ongoing", always(value=False)),
    Mutant("old epochs are asked about", LEADER, "received", with_profile(refuses_old_epochs_first=False)),
    Mutant("sequences are not looked at", LEADER, "_in_order", always(value=True)),
    Mutant("a first write may have any sequence", LEADER, "_in_order", with_profile(first_sequence_is_zero=False)),
    Mutant("a verification keeps no lowest sequence", LEADER, "_begun", ANY_LOWEST),
    Mutant("repetitions are not known", LEADER, "written", _no_repetitions),
    Mutant("a coordinator's refusal is passed on as it is", LEADER, "translated", replaced(_second_given)),
    Mutant("a marker leaves the transaction open", LEADER, "marked", _leaves_open),
    Mutant("a marker leaves the verification", LEADER, "marked", _keeps_verification, ShownBy.EVENTS),
    Mutant("a marker forgets the batches", LEADER, "marked", then(_forgets_batches)),
    Mutant("a marker may have the epoch of its records", LEADER, "marked", with_profile(strict_markers=False)),
    Mutant("a marker of any coordinator is taken", LEADER, "marked", _any_coordinator),
)
