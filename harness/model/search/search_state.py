"""What decides what may happen next: brokers, clients, and messages under way."""

from collections.abc import Iterable

from msgspec import Struct, field
from msgspec.structs import replace

from harness.model import protocol_step as step
from harness.model.invariants import Intended
from harness.model.leader_model import UNVERIFIED
from harness.model.model_requests import (
    AddOffsetsAsked,
    EndTxnAsked,
    InitProducerIdAsked,
    ModelRequest,
    ProduceAsked,
    TxnOffsetCommitAsked,
)
from harness.model.model_state import ModelCluster
from harness.model.modelled_producer import ModelledProducer
from harness.model.protocol_profile import ProtocolProfile

SENT, ASKED, CONFIRMED = "arrives", "is asked about", "is confirmed"


class MessageUnderWay(Struct, frozen=True):
    """Something under way: a request, or a leader's question about a write, or the coordinator's yes to it.

    :param client: Who sent it, by index. :param number: Of the leader's verification.
    :param unheard: Nobody waits for its answer any more. :param again: It has arrived once already.
    """

    request: ModelRequest
    client: int
    stage: str = SENT
    number: int = UNVERIFIED
    unheard: bool = False
    again: bool = False


class SearchState(Struct, frozen=True, kw_only=True):
    """Everything that decides what may happen next.

    :param repeats: How many messages may still arrive twice; :param moves: how often a coordinator or leader may move.
    """

    cluster: ModelCluster
    clients: tuple[ModelledProducer, ...]
    messages: frozenset[MessageUnderWay] = frozenset()
    intended: Intended = field(default_factory=Intended)
    repeats: int = 0
    moves: int = 0

    def with_client(self, index: int, client: ModelledProducer) -> "SearchState":
        """With what a client now knows."""
        return replace(self, clients=(*self.clients[:index], client, *self.clients[index + 1 :]))

    def without(self, message: MessageUnderWay) -> "SearchState":
        """After a message has come, or goes on as another one."""
        return replace(self, messages=self.messages - {message})

    def plus(self, message: MessageUnderWay) -> "SearchState":
        """With one more under way."""
        return replace(self, messages=self.messages | {message})

    def given_up(self, index: int) -> "SearchState":
        """Nobody hears the answers to what a client has sent so far."""
        return replace(self, messages=frozenset(_unheard(self.messages, index)))


class SearchStep(Struct, frozen=True):
    """What may happen next. :param events: In words, in their order. :param after: The state then."""

    events: tuple[str, ...]
    after: SearchState


def brokers_rest(state: SearchState, profile: ProtocolProfile) -> bool:
    """Whether brokers do nothing more by themselves: no question, no marker and no timeout is left.

    Clients may be silent from here on, and what they have sent may be lost: what is open now stays open.
    """
    return (
        all(each.stage == SENT for each in state.messages)
        and next(step.marker_steps(state.cluster, profile), None) is None
        and all(step.timed_out(state.cluster, name, profile) is None for name in state.cluster.ids)
    )


def words(request: ModelRequest) -> str:
    """A request for a person."""
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


def _unheard(messages: Iterable[MessageUnderWay], index: int) -> Iterable[MessageUnderWay]:
    return (replace(each, unheard=True) if each.client == index else each for each in messages)
