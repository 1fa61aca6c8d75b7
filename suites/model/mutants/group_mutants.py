"""Wrong models of what coordinators of groups do with offsets of transactions, and of ListTransactions."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from harness.model import coordinator_model, leader_model
from harness.model.groups import group_model
from harness.model.model_requests import ModelAnswer, TxnOffsetCommitAsked
from harness.model.model_state import NONE, CoordinatorState, GroupOffsets
from suites.model.mutants.mutant import Mutant, ShownBy, always, asked_as, replaced, with_profile

COORDINATOR, LEADER, GROUPS = coordinator_model, leader_model, group_model


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


def _once(rule: Callable[..., Any]) -> Callable[..., Any]:
    def committed(group: Any, log: Any, asked: Any, number: int, profile: Any) -> Any:
        known = log.known(asked.producer_id)
        repeated = known.epoch == asked.epoch and known.open_since is not None
        return (ModelAnswer(), group, log) if repeated else rule(group, log, asked, number, profile)

    return committed


def _first_counts(rule: Callable[..., Any]) -> Callable[..., Any]:
    def replayed(group: Any, at: int, entry: Any) -> Any:
        after, before = rule(group, at, entry), group.pending.get(entry.producer_id)
        if entry.marker is not None or before is None:
            return after
        return replace(after, pending=after.pending.put(entry.producer_id, before))

    return replayed


def _last_marker_counts(rule: Callable[..., Any]) -> Callable[..., Any]:
    def replayed(group: Any, at: int, entry: Any) -> Any:
        ended, after = group.pending.get(entry.producer_id), rule(group, at, entry)
        return replace(after, committed=ended) if ended is not None and entry.marker else after

    return replayed


def _makes_no_group(rule: Callable[..., Any]) -> Callable[..., Any]:
    return lambda group, *given: replace(rule(group, *given), exists=group.exists)


def _no_named_member(group: Any, asked: Any, _profile: Any) -> Any:
    return GROUPS.UNKNOWN_MEMBER if asked.member or (group.exists and asked.generation != NONE) else None


def _always_stable(rule: Callable[..., Any]) -> Callable[..., Any]:
    return lambda group, **_stable: rule(group, stable=False)


def _listed_if(listed: Callable[[Any, Any], bool]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Only what fits is in the list."""

    def change(rule: Callable[..., Any]) -> Callable[..., Any]:
        return lambda known, asked, profile: rule(known if known and listed(known, asked) else None, asked, profile)

    return change


def _never_used_is_empty(rule: Callable[..., Any]) -> Callable[..., Any]:
    def listed(known: Any, asked: Any, profile: Any) -> Any:
        empty = (ModelAnswer(producer_id=asked.producer_id, state=str(CoordinatorState.EMPTY)),)
        return empty if known is None else rule(known, asked, profile)

    return listed


def _no_state(rule: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given: tuple(replace(each, state="") for each in rule(*given))


OWN_ID = asked_as(producer_id=lambda known: known.producer_id)
ANY_DURATION = asked_as(duration_ms=lambda _known: NONE)
OPEN_ONES = _listed_if(lambda known, _asked: not known.state.complete)
FOR_NO_TIME = _listed_if(lambda _known, asked: asked.duration_ms == NONE)
OLD_GROUPS = with_profile(new_group_coordinator=False)

OF_GROUPS_AND_LISTS: Sequence[Mutant] = (
    Mutant("an id is listed in every state", COORDINATOR, "listed", asked_as(states=lambda _known: ())),
    Mutant("an id is listed for every producer id", COORDINATOR, "listed", OWN_ID),
    Mutant("an id is listed however short it is open", COORDINATOR, "listed", ANY_DURATION),
    Mutant("a list tells no state", COORDINATOR, "listed", _no_state),
    Mutant(
        "an id that has ended is not listed",
        COORDINATOR,
        "listed",
        OPEN_ONES,
    ),
    Mutant(
        "an id in Empty is open for no time",
        COORDINATOR,
        "listed",
        FOR_NO_TIME,
    ),
    Mutant("an id that was never used is listed", COORDINATOR, "listed", _never_used_is_empty),
    Mutant("offsets add no partition", GROUPS, "add_offsets", _only_told),
    Mutant("offsets are not verified", LEADER, "verified", _of_offsets(value=False)),
    Mutant("offsets of a new client are not added", LEADER, "is_new", _of_offsets(value=False)),
    Mutant("offsets of an old client are added", LEADER, "is_new", _of_offsets(value=True)),
    Mutant("whoever commits offsets knows TRANSACTION_ABORTABLE", LEADER, "knows_abortable", _of_offsets(value=True)),
    Mutant("a generation needs no member", GROUPS, "_no_member", always(None)),
    Mutant("an unknown group is one without the member", GROUPS, "_no_member", OLD_GROUPS),
    Mutant("an offset needs no open transaction", GROUPS, "not_part_of_it", always(None), shown_by=ShownBy.ORDER),
    Mutant("a pending offset is shown", GROUPS, "replayed", _shown_at_once),
    Mutant("an aborted offset is shown", GROUPS, "replayed", _replays_as(commit=True)),
    Mutant("a committed offset is not shown", GROUPS, "replayed", _replays_as(commit=False)),
    Mutant("an offset stays pending after its marker", GROUPS, "replayed", _leaves_pending),
    Mutant("a refused offset takes the accepted one with it", GROUPS, "_failed", OLD_GROUPS, ShownBy.ORDER),
    Mutant("an offset that is committed again is a repetition", GROUPS, "committed", _once),
    Mutant("the first of two pending offsets counts", GROUPS, "replayed", _first_counts),
    Mutant("the offset whose marker comes last counts", GROUPS, "replayed", _last_marker_counts, ShownBy.ORDER),
    Mutant("an offset makes no group", GROUPS, "replayed", _makes_no_group),
    Mutant("whoever names a member must be one", GROUPS, "_no_member", replaced(_no_named_member)),
    Mutant("a pending offset is stable", GROUPS, "shown", _always_stable),
    Mutant("a group that is loaded has no offsets", GROUPS, "loaded", always(GroupOffsets()), ShownBy.ORDER),
)
