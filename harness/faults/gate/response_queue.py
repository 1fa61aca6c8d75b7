"""Responses on their way to one client: one that is held keeps those after it waiting, as Kafka's order demands."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class QueuedResponse:
    """A response; one that is not ready is held."""

    raw: bytes
    ready: bool = True


@dataclass(slots=True)
class ResponseQueue:
    """What waits; ``send`` writes to the client."""

    send: Callable[[bytes], None]
    _waiting: deque[QueuedResponse] = field(default_factory=deque)

    def add(self, raw: bytes) -> None:
        """Send it, behind those that wait."""
        if self._waiting:
            self._waiting.append(QueuedResponse(raw))
        else:
            self.send(raw)

    def hold(self, raw: bytes) -> Callable[[], None]:
        """Keep it until the function that is returned is called."""
        held = QueuedResponse(raw, ready=False)
        self._waiting.append(held)

        def release() -> None:
            held.ready = True
            while self._waiting and self._waiting[0].ready:
                self.send(self._waiting.popleft().raw)

        return release

    def clear(self) -> None:
        """Forget what waits: nobody takes it any more."""
        self._waiting.clear()
