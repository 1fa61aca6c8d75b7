"""The model checked by itself: every order of events in a small scope, breadth first, against the promises.

Events are: a client sends, gives up or stops; a message arrives, also late or once more; a leader asks a coordinator
and hears from it; a marker is written; a transaction times out; a coordinator or a leader moves. A broken promise is
told with the shortest sequence of events that leads to it.
"""

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from harness.model import protocol_step as step
from harness.model.coordinator_model import add_partitions
from harness.model.invariants import Intended, broken_anywhere, broken_at_rest
from harness.model.leader_model import UNVERIFIED, question, translated
from harness.model.model_requests import (
    AddOffsetsAsked,
    EndTxnAsked,
    InitProducerIdAsked,
    ModelRequest,
    PartitionWrite,
    ProduceAsked,
    TxnOffsetCommitAsked,
)
from harness.model.model_state import CoordinatorState, ModelCluster, fresh_cluster
from harness.model.modelled_producer import ModelledProducer
from harness.model.protocol_profile import ProtocolProfile

SENT, ASKED, CONFIRMED = "arrives", "is asked about", "is confirmed"


@dataclass(frozen=True, slots=True)
class MessageUnderWay:
    """Something under way: a request, or a leader's question about a write, or the coordinator's yes to it.

    :param client: Who sent it, by index. :param number: Of the leader's verification.
    """

    request: ModelRequest
    client: int
    stage: str = SENT
    number: int = UNVERIFIED


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchState:
    """Everything that decides what may happen next.

    :param repeats: How many messages may still arrive twice; :param moves: how often a coordinator or leader may move.
    """

    cluster: ModelCluster
    clients: tuple[ModelledProducer, ...]
    messages: frozenset[MessageUnderWay] = frozenset()
    intended: Intended = field(default_factory=Intended)
    repeats: int = 0
    moves: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What was looked at, and the first broken promise.

    :param broken: None where every promise holds in the whole scope.
    :param events: The shortest sequence that leads to it.
    :param whole: Whether every reachable state was looked at.
    """

    states: int
    depth: int
    seconds: float
    whole: bool
    broken: str | None = None
    events: tuple[str, ...] = ()


def explore(
    profile: ProtocolProfile,
    clients: tuple[ModelledProducer, ...],
    *,
    repeats: int = 0,
    moves: int = 0,
    most_states: int = 1_000_000,
) -> SearchResult:
    """Look at every state within the scope, nearest first, until a promise is broken."""
    started = time.monotonic()
    partitions = sorted({partition for client in clients for partition in client.partitions})
    start = SearchState(cluster=fresh_cluster(*partitions), clients=clients, repeats=repeats, moves=moves)
    came_from: dict[SearchState, tuple[SearchState, str] | None] = {start: None}
    queue, depth = deque([(start, 0)]), 0
    while queue and len(came_from) < most_states:
        state, depth = queue.popleft()
        following = list(_events(state, profile))
        if broken := _broken(state, at_rest=not following):
            return _told(came_from, state, depth, started, broken)
        for event, after in following:
            kept = _renumbered(after)
            if kept not in came_from:
                came_from[kept] = state, event
                queue.append((kept, depth + 1))
    seconds = time.monotonic() - started
    return SearchResult(states=len(came_from), depth=depth, seconds=seconds, whole=not queue)


def _told(
    came_from: dict[SearchState, tuple[SearchState, str] | None],
    state: SearchState,
    depth: int,
    started: float,
    broken: str,
) -> SearchResult:
    events, at = list[str](), state
    while (before := came_from[at]) is not None:
        at, event = before
        events.append(event)
    return SearchResult(
        states=len(came_from),
        depth=depth,
        seconds=time.monotonic() - started,
        whole=False,
        broken=broken,
        events=tuple(reversed(events)),
    )


def _broken(state: SearchState, *, at_rest: bool) -> str | None:
    found = [*broken_anywhere(state.cluster, state.intended)]
    if at_rest:
        found += broken_at_rest(state.cluster, state.intended)
    return found[0] if found else None


def _events(state: SearchState, profile: ProtocolProfile) -> Iterator[tuple[str, SearchState]]:
    """Each event that may come next, in words, and the state after it."""
    yield from _of_clients(state)
    for message in state.messages:
        yield from _arrivals(state, message, profile)
    for name, cluster in step.marker_steps(state.cluster, profile):
        yield name, replace(state, cluster=cluster)
    for name in state.cluster.ids:
        if (aborted := step.timed_out(state.cluster, name, profile)) is not None:
            yield f"{name} times out", replace(state, cluster=aborted)
    if state.moves:
        yield from _moves(state)


def _of_clients(state: SearchState) -> Iterator[tuple[str, SearchState]]:
    for index, client in enumerate(state.clients):
        if (request := client.next_request()) is not None:
            messages = state.messages | {MessageUnderWay(request, index)}
            sent = replace(_with_client(state, index, client.sent()), messages=messages)
            yield f"{client.name} sends {_words(request)}", sent
        if client.may_give_up:
            yield f"{client.name} gives up, and aborts", _with_client(state, index, client.gave_up())
        if client.waiting is not None:
            yield f"{client.name} stops", _with_client(state, index, client.stopped())


def _moves(state: SearchState) -> Iterator[tuple[str, SearchState]]:
    fewer = replace(state, moves=state.moves - 1)
    yield "the coordinator moves", replace(fewer, cluster=step.coordinator_moved(state.cluster))
    for partition, log in state.cluster.logs.items():
        if log.verifications:
            moved = step.leader_moved(state.cluster, partition)
            yield f"the leader of {partition} moves", replace(fewer, cluster=moved)


def _arrivals(
    state: SearchState, message: MessageUnderWay, profile: ProtocolProfile
) -> Iterator[tuple[str, SearchState]]:
    taken = replace(state, messages=state.messages - {message})
    event = f"{state.clients[message.client].name}'s {_words(message.request)} {message.stage}"
    yield event, _arrived(taken, message, profile)
    if state.repeats and message.stage == SENT:
        once_more = replace(state, repeats=state.repeats - 1)
        yield f"{event}, and will once more", _arrived(once_more, message, profile)


def _arrived(state: SearchState, message: MessageUnderWay, profile: ProtocolProfile) -> SearchState:
    request = message.request
    if not isinstance(request, PartitionWrite):
        outcome = step.outcomes(state.cluster, request, profile)[0]
        return _answered(state, message, outcome)
    if message.stage == SENT:
        begun = step.begin_write(state.cluster, request, profile)
        if isinstance(begun, step.ModelOutcome):
            return _answered(state, message, begun)
        cluster, number = begun
        after = replace(state, cluster=cluster)
        if number == UNVERIFIED:
            return _answered(after, message, step.finish_write(cluster, request, number, profile))
        return _on_its_way(after, replace(message, stage=ASKED, number=number))
    if message.stage == ASKED:
        return _coordinator_asked(state, message, request, profile)
    return _answered(state, message, step.finish_write(state.cluster, request, message.number, profile))


def _coordinator_asked(
    state: SearchState, message: MessageUnderWay, request: PartitionWrite, profile: ProtocolProfile
) -> SearchState:
    answer, known = add_partitions(state.cluster.ids.get(request.id), question(request), profile)
    cluster = state.cluster if known is None else state.cluster.with_id(request.id, known)
    if not answer.accepted:
        return _answered(state, message, step.ModelOutcome(translated(request, answer), cluster))
    return _on_its_way(replace(state, cluster=cluster), replace(message, stage=CONFIRMED))


def _on_its_way(state: SearchState, message: MessageUnderWay) -> SearchState:
    return replace(state, messages=state.messages | {message})


def _answered(state: SearchState, message: MessageUnderWay, outcome: step.ModelOutcome) -> SearchState:
    """The answer reaches a client that still waits for it; what applications may rely on is kept."""
    client = state.clients[message.client]
    waits = client.waiting == message.request
    intended = _intended(state, message.request, outcome, client, waits=waits)
    after = replace(state, cluster=outcome.after, intended=intended)
    return _with_client(after, message.client, client.answered(outcome.answer)) if waits else after


def _intended(
    state: SearchState, request: ModelRequest, outcome: step.ModelOutcome, client: ModelledProducer, *, waits: bool
) -> Intended:
    intended = state.intended
    match request:
        case EndTxnAsked(commit=True) if _begins_to_commit(state.cluster, outcome.after, request.id):
            return replace(intended, committed=intended.committed | {client.transaction})
        case ProduceAsked() | TxnOffsetCommitAsked() if outcome.answer.accepted:
            appended = outcome.after.log(request.partition).entries != state.cluster.log(request.partition).entries
            return intended.with_record(request, appended=appended, acknowledged=waits)
        case InitProducerIdAsked() if outcome.answer.accepted:
            return intended.with_identity(outcome.answer)
    return intended


def _begins_to_commit(before: ModelCluster, after: ModelCluster, name: str) -> bool:
    commits = CoordinatorState.PREPARE_COMMIT
    states = [cluster.ids[name].state if name in cluster.ids else None for cluster in (before, after)]
    return states[0] is not commits and states[1] is commits


def _with_client(state: SearchState, index: int, client: ModelledProducer) -> SearchState:
    clients = (*state.clients[:index], client, *state.clients[index + 1 :])
    return replace(state, clients=clients)


def _renumbered(state: SearchState) -> SearchState:
    """Verifications by numbers that tell them apart and nothing else: how many there were makes no difference."""
    logs = state.cluster.logs
    live = [entry.number for log in logs.values() for entry in log.verifications.values()]
    numbers = {number: index for index, number in enumerate(dict.fromkeys(live))}
    stale = len(numbers)
    messages = frozenset(
        replace(each, number=numbers.get(each.number, stale)) if each.number != UNVERIFIED else each
        for each in state.messages
    )
    cluster = replace(state.cluster, verifications=stale + 1)
    for partition, log in logs.items():
        if log.verifications:
            kept = {id_: replace(one, number=numbers[one.number]) for id_, one in log.verifications.items()}
            cluster = cluster.with_log(partition, replace(log, verifications=type(log.verifications)(kept)))
    return replace(state, cluster=cluster, messages=messages)


def _words(request: ModelRequest) -> str:
    match request:
        case ProduceAsked():
            return f"Produce v{request.version} of {request.value} to {request.partition}, epoch {request.epoch}"
        case EndTxnAsked():
            return f"EndTxn v{request.version}, {'commit' if request.commit else 'abort'}, epoch {request.epoch}"
        case InitProducerIdAsked():
            return f"InitProducerId v{request.version}"
        case TxnOffsetCommitAsked():
            return f"TxnOffsetCommit v{request.version} of {request.value}, epoch {request.epoch}"
        case AddOffsetsAsked():
            return f"AddOffsetsToTxn v{request.version}"
        case _:
            return f"AddPartitionsToTxn v{request.version}"
