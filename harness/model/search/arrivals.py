"""What a message does that arrives: a step of a write, or an answer, and what applications may rely on after it."""

from msgspec.structs import replace

from harness.model import protocol_step as step
from harness.model.coordinator_model import add_partitions
from harness.model.invariants import Intended
from harness.model.leader_model import UNVERIFIED, question, translated
from harness.model.model_requests import (
    EndTxnAsked,
    InitProducerIdAsked,
    ModelAnswer,
    ModelRequest,
    PartitionWrite,
    ProduceAsked,
    TxnOffsetCommitAsked,
)
from harness.model.model_state import CoordinatorState, ModelCluster
from harness.model.protocol_profile import ProtocolProfile
from harness.model.search.search_state import ASKED, CONFIRMED, SENT, MessageUnderWay, SearchState


def arrived(
    state: SearchState, message: MessageUnderWay, profile: ProtocolProfile
) -> tuple[SearchState, ModelAnswer | None]:
    """The state without the message and with its effect, and the answer; None where the write goes on under way."""
    taken, request = state.without(message), message.request
    if not isinstance(request, PartitionWrite):
        return _answered(taken, message, step.outcomes(taken.cluster, request, profile)[0])
    if message.stage == SENT:
        return _received(taken, message, request, profile)
    if message.stage == ASKED:
        return _coordinator_asked(taken, message, request, profile)
    return _answered(taken, message, step.finish_write(taken.cluster, request, message.number, profile))


def _received(
    taken: SearchState, message: MessageUnderWay, request: PartitionWrite, profile: ProtocolProfile
) -> tuple[SearchState, ModelAnswer | None]:
    begun = step.begin_write(taken.cluster, request, profile)
    if isinstance(begun, step.ModelOutcome):
        return _answered(taken, message, begun)
    cluster, number = begun
    after = replace(taken, cluster=cluster)
    if number == UNVERIFIED:
        return _answered(after, message, step.finish_write(cluster, request, number, profile))
    return after.plus(replace(message, stage=ASKED, number=number)), None


def _coordinator_asked(
    taken: SearchState, message: MessageUnderWay, request: PartitionWrite, profile: ProtocolProfile
) -> tuple[SearchState, ModelAnswer | None]:
    answer, known = add_partitions(taken.cluster.ids.get(request.id), question(request), profile)
    cluster = taken.cluster if known is None else taken.cluster.with_id(request.id, known)
    if not answer.accepted:
        return _answered(taken, message, step.ModelOutcome(translated(request, answer), cluster))
    return replace(taken, cluster=cluster).plus(replace(message, stage=CONFIRMED)), None


def _answered(
    taken: SearchState, message: MessageUnderWay, outcome: step.ModelOutcome
) -> tuple[SearchState, ModelAnswer]:
    transaction = taken.clients[message.client].transaction
    intended = _intended(taken, message.request, outcome, transaction)
    return replace(taken, cluster=outcome.after, intended=intended), outcome.answer


def heard(state: SearchState, message: MessageUnderWay, answer: ModelAnswer) -> SearchState:
    """The client that waits for the answer has it."""
    client, request = state.clients[message.client], message.request
    after = state.with_client(message.client, client.answered(answer))
    if isinstance(request, PartitionWrite) and answer.accepted:
        return replace(after, intended=state.intended.with_acknowledged(request.value))
    return after


def _intended(state: SearchState, request: ModelRequest, outcome: step.ModelOutcome, transaction: str) -> Intended:
    intended = state.intended
    match request:
        case EndTxnAsked(commit=True) if _begins_to_commit(state.cluster, outcome.after, request.id):
            return replace(intended, committed=intended.committed | {transaction})
        case ProduceAsked() | TxnOffsetCommitAsked() if outcome.answer.accepted:
            appended = outcome.after.log(request.partition).entries != state.cluster.log(request.partition).entries
            return intended.with_record(request) if appended else intended
        case InitProducerIdAsked() if outcome.answer.accepted:
            return intended.with_identity(outcome.answer)
    return intended


def _begins_to_commit(before: ModelCluster, after: ModelCluster, name: str) -> bool:
    commits = CoordinatorState.PREPARE_COMMIT
    states = [cluster.ids[name].state if name in cluster.ids else None for cluster in (before, after)]
    return states[0] is not commits and states[1] is commits
