"""Wrong models of what happens beside requests: timeouts, moves, messages that wait, transactions that are ending."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from harness.explore import comparison
from harness.model import coordinator_model, leader_model, protocol_step
from harness.model.events import model_event, write_events
from harness.model.events.write_events import WriteEvent, WriteLost, WritesAnswered, WritesOverlap, writes_of
from harness.model.frozen_map import FrozenMap
from harness.model.leader_model import LOADING
from harness.model.model_requests import ModelAnswer
from harness.model.model_state import NONE, CoordinatorState, ModelCluster
from suites.model.mutants.mutant import Mutant, ShownBy, always, replaced, with_profile

COORDINATOR, LEADER, STEP, EVENTS, WRITES = coordinator_model, leader_model, protocol_step, model_event, write_events


def _commits(rule: Callable[..., Any]) -> Callable[..., Any]:
    def timed_out(cluster: ModelCluster, name: str, profile: Any) -> ModelCluster | None:
        after: ModelCluster | None = rule(cluster, name, profile)
        if after is None:
            return None
        return after.with_id(name, replace(after.ids[name], state=CoordinatorState.PREPARE_COMMIT))

    return timed_out


def _moved_ids(change: Callable[[Any, Any], Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The other coordinator knows each id so. :param change: Makes it of what the old and the new one know."""

    def changed(rule: Callable[..., Any]) -> Callable[..., Any]:
        def moved(cluster: ModelCluster, profile: Any) -> ModelCluster:
            after: ModelCluster = rule(cluster, profile)
            return replace(
                after, ids=FrozenMap({name: change(cluster.ids[name], one) for name, one in after.ids.items()})
            )

        return moved

    return changed


def _same_coordinator_epoch(rule: Callable[..., Any]) -> Callable[..., Any]:
    return lambda cluster, profile: replace(rule(cluster, profile), coordinator_epoch=cluster.coordinator_epoch)


def _without_open(_before: Any, known: Any) -> Any:
    if known.state is not CoordinatorState.ONGOING:
        return known
    return replace(known, state=CoordinatorState.EMPTY, partitions=frozenset())


def _with_last_epoch(before: Any, known: Any) -> Any:
    return replace(known, last_epoch=before.last_epoch)


def _moved_log(change: Callable[[Any, Any], Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The other leader has such a log. :param change: Makes it of the one's before and the right one."""

    def changed(rule: Callable[..., Any]) -> Callable[..., Any]:
        def moved(cluster: ModelCluster, partition: str) -> ModelCluster:
            after: ModelCluster = rule(cluster, partition)
            return after.with_log(partition, change(cluster.log(partition), after.log(partition)))

        return moved

    return changed


def _with_verifications(before: Any, log: Any) -> Any:
    return replace(log, verifications=before.verifications)


def _without_producers(_before: Any, log: Any) -> Any:
    return replace(log, producers=FrozenMap())


def _without_batches(_before: Any, log: Any) -> Any:
    return replace(log, producers=FrozenMap({id_: replace(each, batches=()) for id_, each in log.producers.items()}))


def _as_if_complete(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule, as if the markers of a transaction that is ending were written."""

    def ruled(known: Any, *given: Any, **named: Any) -> Any:
        ending = known is not None and known.state.preparing
        return rule(COORDINATOR.completed(known) if ending else known, *given, **named)

    return ruled


def _leaves_no_trace(kind: type[WriteEvent]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """After such an event the log is, and the leader knows, what it was and did before."""

    def changed(rule: Callable[..., Any]) -> Callable[..., Any]:
        def after_writes(cluster: ModelCluster, event: WriteEvent, profile: Any) -> WritesAnswered:
            left: WritesAnswered = rule(cluster, event, profile)
            if not isinstance(event, kind):
                return left
            partition = writes_of(event)[0].partition
            return replace(left, after=left.after.with_log(partition, cluster.log(partition)))

        return after_writes

    return changed


def _asked_of_the_next(rule: Callable[..., Any]) -> Callable[..., Any]:
    return lambda began, now, event, profile: rule(began, now, replace(event, moved=False), profile)


def _as_if_loaded(_rule: Callable[..., Any]) -> Callable[..., Any]:
    return lambda cluster, *given: STEP.outcomes(replace(cluster, loading=False), *given)[0]


def _loading_is_a_yes(rule: Callable[..., Any]) -> Callable[..., Any]:
    def translated(asked: Any, refused: Any) -> Any:
        return ModelAnswer() if refused == LOADING else rule(asked, refused)

    return translated


def _never_used_up(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule, as if there were many epochs behind the last ones."""

    def ruled(known: Any, asked: Any, *given: Any, **named: Any) -> Any:
        if not known.exhausted:
            return rule(known, asked, *given, **named)
        answer, after = rule(_moved_by(known, -MANY), _moved_by(asked, -MANY), *given, **named)
        return _moved_by(answer, MANY), _moved_by(after, MANY)

    return ruled


def _moved_by(told: Any, by: int) -> Any:
    return told if told.epoch == NONE else replace(told, epoch=told.epoch + by)


MANY = 100
IDENTITY_FIRST = with_profile(ending_comes_first=False)

OF_EVENTS: Sequence[Mutant] = tuple(
    Mutant(says, module, rule, change, ShownBy.EVENTS)
    for says, module, rule, change in (
        ("a timeout ends nothing", STEP, "timed_out", always(None)),
        ("a timeout commits", STEP, "timed_out", _commits),
        ("another coordinator knows the last epoch", STEP, "coordinator_moved", _moved_ids(_with_last_epoch)),
        ("another coordinator knows no open transaction", STEP, "coordinator_moved", _moved_ids(_without_open)),
        ("another coordinator has the epoch of the one before", STEP, "coordinator_moved", _same_coordinator_epoch),
        ("another leader keeps the verifications", STEP, "leader_moved", _moved_log(_with_verifications)),
        ("another leader knows no producer", STEP, "leader_moved", _moved_log(_without_producers)),
        ("another leader knows no batch", STEP, "leader_moved", _moved_log(_without_batches)),
        ("a new instance waits for no marker", COORDINATOR, "_init", _as_if_complete),
        ("a partition is added before the markers are written", COORDINATOR, "_added", _as_if_complete),
        ("a partition is verified before the markers are written", COORDINATOR, "_verified", _as_if_complete),
        ("who adds to what is ending is told of its identity first", COORDINATOR, "_added", IDENTITY_FIRST),
        ("an old client's end waits for no marker", COORDINATOR, "_ended_old", _as_if_complete),
        ("a new client's end waits for no marker", COORDINATOR, "_ended_new", _as_if_complete),
        ("a lost question leaves no verification", EVENTS, "after_writes", _leaves_no_trace(WriteLost)),
        ("writes that overlap are both refused", EVENTS, "after_writes", _leaves_no_trace(WritesOverlap)),
        ("a new instance may have an epoch behind the last one", COORDINATOR, "_next_epoch", _never_used_up),
        ("a transaction may end in an epoch behind the last one", COORDINATOR, "_begin_to_end", _never_used_up),
        ("a coordinator that is loading answers by what the one before knew", STEP, "_while_loading", _as_if_loaded),
        ("a write whose coordinator is loading is appended", LEADER, "translated", _loading_is_a_yes),
        ("a question that waited is answered yes", WRITES, "asked_about", replaced(STEP.finish_write)),
        ("a question on its way comes to the next coordinator", comparison, "let_go", _asked_of_the_next),
    )
)
