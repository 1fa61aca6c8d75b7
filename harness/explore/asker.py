"""Many requests at once: each is sent without waiting for the one before it, over several connections to each broker.

A broker works on one request of a connection at a time, and answers in order; so the connections are what is tried at
the same time, and a cell stays on one of them.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.wire_client import PendingResponse, WireClient
from harness.wire.wire_errors import CannotBuild, ConnectionClosed, NoAnswer, NotOffered, WireError

ANSWER_SECONDS = 30.0
"""That the answers to requests which are asked together may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A request on its way out.

    :param lane: Requests of one number are answered in their order.
    """

    lane: int
    node: int
    request: ApiRequest[Any]
    version: int


@dataclass(frozen=True, slots=True)
class Asker:
    """Clients side by side, each with one connection to each broker."""

    clients: Sequence[WireClient]

    def ask(self, requests: Sequence[Outgoing]) -> list[ApiResult | WireError]:
        """The answer to each, or why there is none."""
        pending = [self._sent(each) for each in requests]
        ends = time.monotonic() + ANSWER_SECONDS
        return [_answer(each, ends) for each in pending]

    def _sent(self, each: Outgoing) -> PendingResponse[Any] | WireError:
        try:
            return self.clients[each.lane % len(self.clients)].send(each.node, each.request, each.version)
        except (NotOffered, CannotBuild) as error:
            return error


def _answer(pending: PendingResponse[Any] | WireError, ends: float) -> ApiResult | WireError:
    if isinstance(pending, WireError):
        return pending
    try:
        result: ApiResult = pending.wait(max(0.0, ends - time.monotonic())).result
    except WireError as error:
        return error
    return result


def require_any(answers: Sequence[ApiResult | WireError]) -> None:
    """One lost connection is its cells' loss; where none answers any more, the cluster is lost."""
    lost = [each for each in answers if isinstance(each, ConnectionClosed | NoAnswer)]
    if lost and len(lost) == len(answers):
        raise lost[0]


@contextmanager
def opened(connect: Callable[[], WireClient], count: int) -> Iterator[Asker]:
    """With ``count`` clients of their own, closed at the end."""
    clients = [connect() for _ in range(count)]
    try:
        yield Asker(clients)
    finally:
        for client in clients:
            with closing(client):
                pass


def at_highest(client: WireClient, by_node: Mapping[int, Sequence[ApiRequest[Any]]]) -> list[ApiResult]:
    """The answers of each broker to its requests, at the highest version, all sent at once.

    :raises WireError: The first failure.
    """
    pending = [
        client.send(node, request, client.highest(node, request.api))
        for node, requests in by_node.items()
        for request in requests
    ]
    return [each.wait(ANSWER_SECONDS).result for each in pending]
