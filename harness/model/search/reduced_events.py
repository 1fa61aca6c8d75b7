"""The events that brokers see, with what clients do by themselves drawn into them: fewer orders, the same states.

A request that a client sends lies under way until it arrives, and no broker sees when it was sent: so it is sent as
soon as the client can. A client that stops is seen by nobody: so it stops when its answer comes, which it does not
hear; one that waits may have stopped. A client gives up a write when its abort arrives. These events commute with all
others until then (a persistent set of one event, which no promise looks at: Godefroid, "Partial-Order Methods for the
Verification of Concurrent Systems", 1996). Clients of one id that are alike and that no broker has heard of are one as
good as the other: the first of them is heard of first.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from harness.model.modelled_producer import ClientPhase, ModelledProducer
from harness.model.protocol_profile import ProtocolProfile
from harness.model.search.arrivals import arrived, heard
from harness.model.search.plain_events import of_brokers, repeated
from harness.model.search.search_state import SENT, MessageUnderWay, SearchState, SearchStep, words


def reduced_steps(state: SearchState, profile: ProtocolProfile) -> Iterator[SearchStep]:
    """All that brokers may see next; every client that can send has sent."""
    for message in state.messages:
        if not _after_its_like(state, message):
            yield from _arrivals(state, message, profile)
    for index, client in enumerate(state.clients):
        if client.may_give_up:
            yield from _aborts(state, index, client, profile)
    yield from of_brokers(state, profile)


def all_sent(state: SearchState) -> SearchState:
    """Every client that has something to send has sent it."""
    for index, client in enumerate(state.clients):
        if (request := client.next_request()) is not None:
            state = state.with_client(index, client.sent()).plus(MessageUnderWay(request, index))
    return state


def _arrivals(
    state: SearchState, message: MessageUnderWay, profile: ProtocolProfile, before: tuple[str, ...] = ()
) -> Iterator[SearchStep]:
    name = state.clients[message.client].name
    sends = (*before, *_sends(state, message))
    event = f"{name}'s {words(message.request)} {message.stage}"
    yield from _arrived(state, message, profile, (*sends, event))
    for first, second in repeated(state, message):
        fewer = replace(state.without(message).plus(first).plus(second), repeats=state.repeats - 1)
        yield from _arrived(fewer, first, profile, (*sends, f"{event}, and will once more"))


def _sends(state: SearchState, message: MessageUnderWay) -> Iterator[str]:
    """Told when a message arrives first, or when its client gives it up: plain events count it as often."""
    if message.stage == SENT and not message.again and not message.unheard:
        yield f"{state.clients[message.client].name} sends {words(message.request)}"


def _arrived(
    state: SearchState, message: MessageUnderWay, profile: ProtocolProfile, events: tuple[str, ...]
) -> Iterator[SearchStep]:
    """A client that waits for the answer hears it or does not; an unheard write it may still give up."""
    after, answer = arrived(state, message, profile)
    if answer is None or message.unheard:
        yield SearchStep(events, after)
        return
    yield SearchStep(events, all_sent(heard(after, message, answer)))
    client = after.clients[message.client]
    if client.may_give_up:
        yield SearchStep(events, after)
    else:
        yield SearchStep((f"{client.name} stops", *events), after.with_client(message.client, client.stopped()))


def _aborts(state: SearchState, index: int, client: ModelledProducer, profile: ProtocolProfile) -> Iterator[SearchStep]:
    sends = [told for each in state.messages if each.client == index for told in _sends(state, each)]
    gave_up = state.with_client(index, client.gave_up()).given_up(index)
    sent = all_sent(gave_up)
    (abort,) = sent.messages - gave_up.messages
    yield from _arrivals(sent, abort, profile, (*sends, f"{client.name} gives up, and aborts"))


def _after_its_like(state: SearchState, message: MessageUnderWay) -> bool:
    """Whether a client of the same id that is just like this one comes before it, and neither was heard of."""
    index = message.client
    if not _unheard_of(state, index):
        return False
    return any(_unheard_of(state, each) and _alike(state, each, index) for each in range(index))


def _unheard_of(state: SearchState, index: int) -> bool:
    client = state.clients[index]
    first = MessageUnderWay(client.waiting, index) if client.waiting is not None else None
    return client.phase is ClientPhase.STARTING and first in state.messages


def _alike(state: SearchState, one: int, other: int) -> bool:
    return replace(state.clients[one], name="") == replace(state.clients[other], name="")
