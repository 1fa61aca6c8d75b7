"""Every event by itself: a client sends, gives up or stops; a message arrives; brokers do what is left to do."""

from collections.abc import Iterator

from msgspec.structs import replace

from harness.model import protocol_step as step
from harness.model.protocol_profile import ProtocolProfile
from harness.model.search.arrivals import arrived, heard
from harness.model.search.search_state import SENT, MessageUnderWay, SearchState, SearchStep, words


def plain_steps(state: SearchState, profile: ProtocolProfile) -> Iterator[SearchStep]:
    """All that may come next."""
    yield from _of_clients(state)
    for message in state.messages:
        yield from _arrivals(state, message, profile)
    yield from of_brokers(state, profile)


def of_brokers(state: SearchState, profile: ProtocolProfile) -> Iterator[SearchStep]:
    """Markers, timeouts, and moves of coordinators and leaders."""
    for marker in step.marker_steps(state.cluster, profile):
        yield SearchStep((marker.name,), replace(state, cluster=marker.after))
    for name in state.cluster.ids:
        if (aborted := step.timed_out(state.cluster, name, profile)) is not None:
            yield SearchStep((f"{name} times out",), replace(state, cluster=aborted))
    if state.moves:
        yield from _moves(state, profile)


def _moves(state: SearchState, profile: ProtocolProfile) -> Iterator[SearchStep]:
    fewer = replace(state, moves=state.moves - 1)
    read = step.coordinator_moved(state.cluster, profile)
    yield SearchStep(("the coordinator moves",), replace(fewer, cluster=read))
    for partition in state.cluster.logs:
        moved = step.leader_moved(state.cluster, partition)
        if moved != state.cluster:
            yield SearchStep((f"the leader of {partition} moves",), replace(fewer, cluster=moved))


def _of_clients(state: SearchState) -> Iterator[SearchStep]:
    for index, client in enumerate(state.clients):
        if (request := client.next_request()) is not None:
            sent = state.with_client(index, client.sent()).plus(MessageUnderWay(request, index))
            yield SearchStep((f"{client.name} sends {words(request)}",), sent)
        if client.may_give_up:
            aborts = state.with_client(index, client.gave_up()).given_up(index)
            yield SearchStep((f"{client.name} gives up, and aborts",), aborts)
        if client.waiting is not None:
            stops = state.with_client(index, client.stopped()).given_up(index)
            yield SearchStep((f"{client.name} stops",), stops)


def _arrivals(state: SearchState, message: MessageUnderWay, profile: ProtocolProfile) -> Iterator[SearchStep]:
    event = f"{state.clients[message.client].name}'s {words(message.request)} {message.stage}"
    yield SearchStep((event,), _arrived(state, message, profile))
    for first, second in repeated(state, message):
        fewer = replace(state.without(message).plus(first).plus(second), repeats=state.repeats - 1)
        yield SearchStep((f"{event}, and will once more",), _arrived(fewer, first, profile))


def repeated(state: SearchState, message: MessageUnderWay) -> Iterator[tuple[MessageUnderWay, MessageUnderWay]]:
    """The message that arrives now, and the one that comes later; a client hears one answer, whichever it is."""
    if not state.repeats or message.stage != SENT or message.again:
        return
    later = replace(message, again=True)
    yield message, replace(later, unheard=True)
    if not message.unheard:
        yield replace(message, unheard=True), later


def _arrived(state: SearchState, message: MessageUnderWay, profile: ProtocolProfile) -> SearchState:
    after, answer = arrived(state, message, profile)
    return after if answer is None or message.unheard else heard(after, message, answer)
