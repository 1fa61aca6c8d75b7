"""Responses on their way to one client: one that is held keeps those after it waiting, as Kafka's order demands."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from harness.wire.frame_codec import UnreadableRequest, read_request, request_header

Sent: TypeAlias = Callable[[], None]
"""Called once a response is written to a client that is still there."""


@dataclass(slots=True, eq=False)
class QueuedResponse:
    """A response; one that is not ready is held.

    :param after: Correlation id of the forwarded request whose response comes first; only of the gate's own answers.
    """

    raw: bytes
    sent: Sent | None = None
    ready: bool = True
    after: bytes = b""


@dataclass(slots=True)
class ResponseQueue:
    """What waits.

    :param send: Writes to the client; false when it is gone.
    :param last_request: The frame that was forwarded last, while its response is to come.
    """

    send: Callable[[bytes], bool]
    last_request: bytes = b""
    _waiting: deque[QueuedResponse] = field(default_factory=deque)
    _in_place: deque[QueuedResponse] = field(default_factory=deque)

    def add(self, raw: bytes, sent: Sent | None = None) -> None:
        """Send it, behind those that wait."""
        if self._waiting:
            self._waiting.append(QueuedResponse(raw, sent))
        elif self.send(raw) and sent is not None:
            sent()

    def hold(self, raw: bytes, sent: Sent | None = None) -> Callable[[], None]:
        """Keep it until the function that is returned is called."""
        held = QueuedResponse(raw, sent, ready=False)
        self._waiting.append(held)

        def release() -> None:
            held.ready = True
            while self._waiting and self._waiting[0].ready:
                self._send(self._waiting.popleft())

        return release

    def add_in_place(self, raw: bytes, sent: Sent | None) -> None:
        """Send an answer of our own, behind the broker's answers to all requests that were forwarded before."""
        after = self.last_request[8:12]
        if self._in_place or (after and not _unanswered(self.last_request)):
            self._in_place.append(QueuedResponse(raw, sent, after=after))
        else:
            self.add(raw, sent)

    def came(self, correlation: bytes) -> None:
        """The broker has answered this request: send answers of our own that waited for it."""
        if self.last_request[8:12] == correlation:
            self.last_request = b""
        while self._in_place and self._in_place[0].after == correlation:
            own = self._in_place.popleft()
            self.add(own.raw, own.sent)

    def clear(self) -> None:
        """Forget what waits: nobody takes it any more."""
        self._waiting.clear()
        self._in_place.clear()

    def _send(self, response: QueuedResponse) -> None:
        if self.send(response.raw) and response.sent is not None:
            response.sent()


def _unanswered(raw: bytes) -> bool:
    """Whether a request (with its length) is never answered: Produce with acks=0."""
    header = request_header(raw[4:])
    try:
        return header.api == "Produce" and getattr(read_request(raw[4:], header), "acks", None) == 0
    except UnreadableRequest:
        return False
