"""Wrong models of what happens beside requests: timeouts, moves, messages that wait, transactions that are ending."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from harness.model import coordinator_model, protocol_step
from harness.model.events import model_event
from harness.model.frozen_map import FrozenMap
from harness.model.model_requests import ModelAnswer
from harness.model.model_state import CoordinatorState, ModelCluster
from suites.model.mutants.mutant import Mutant, ShownBy, always, replaced, with_profile

COORDINATOR, STEP, EVENTS = coordinator_model, protocol_step, model_event


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
        def moved(cluster: ModelCluster) -> ModelCluster:
            after: ModelCluster = rule(cluster)
            return replace(
                after, ids=FrozenMap({name: change(cluster.ids[name], one) for name, one in after.ids.items()})
            )

        return moved

    return changed


def _same_coordinator_epoch(rule: Callable[..., Any]) -> Callable[..., Any]:
    return lambda cluster: replace(rule(cluster), coordinator_epoch=cluster.coordinator_epoch)


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


def _confirmed(known: Any, *_given: Any) -> Any:
    return ModelAnswer(), known


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
        ("a question that waited is answered yes", EVENTS, "add_partitions", replaced(_confirmed)),
    )
)
