"""A request that was sent, and its answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from threading import Event, Lock
from typing import Generic, TypeVar

from harness.base.json_value import Json
from harness.evidence.exchange import Exchange
from harness.evidence.recorder import Recorder
from harness.wire.api_request import ApiResult
from harness.wire.wire_errors import ConnectionClosed, NoAnswer, SecurityRefused, UnreadableAnswer, WireError

R = TypeVar("R", bound=ApiResult)
Reader = Callable[[bytes], tuple[R, Mapping[str, Json]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Response(Generic[R]):
    """The broker's answer, typed, and as the exchange that the journal keeps, with both timestamps."""

    result: R
    exchange: Exchange


class PendingResponse(Generic[R]):
    """A request that was written. It is recorded exactly once: when it is answered, or when it has failed.

    A Produce with ``acks=0`` is never answered by Kafka: it stays pending until its client is closed.
    """

    def __init__(self, unanswered: Exchange, read: Reader[R], recorder: Recorder) -> None:
        self._unanswered = unanswered
        self._read = read
        self._recorder = recorder
        self._settled = Lock()  # acquired by the first to settle, never released
        self._done = Event()
        self._outcome: Response[R] | WireError | None = None

    @property
    def sent(self) -> float:
        """When it was written, in milliseconds on the run's clock."""
        return self._unanswered.sent

    @property
    def number(self) -> int:
        """The exchange's number; also the correlation id on the wire."""
        return self._unanswered.number

    @property
    def node(self) -> int:
        return self._unanswered.node

    @property
    def api(self) -> str:
        return self._unanswered.api

    @property
    def version(self) -> int:
        return self._unanswered.version

    def done(self) -> bool:
        """Whether it was answered or has failed; ``wait`` then returns or raises at once."""
        return self._done.is_set()

    def wait(self, timeout_seconds: float = 10.0) -> Response[R]:
        """The answer.

        :param timeout_seconds: Seconds to wait.
        :raises NoAnswer: When the bound passed; it may be waited for again.
        :raises ConnectionClosed: When the connection ended first.
        :raises UnreadableAnswer: When what came is no answer of that API and version.
        """
        self._done.wait(timeout_seconds)
        match self._outcome:
            case Response() as answer:
                return answer
            case WireError() as error:
                raise error
            case _:
                raise NoAnswer(f"{self._description()}: no answer within {timeout_seconds:g} s")

    def arrived(self, at: float, frame: bytes) -> None:
        """The reader thread hands the answer over; ``at`` is when it came."""
        try:
            result, answer = self._read(frame)
        except UnreadableAnswer as error:
            self._settle(replace(self._unanswered, answered=at, failure=f"unreadable: {error}"), error)
        else:
            exchange = replace(self._unanswered, answered=at, answer=answer)
            self._settle(exchange, Response(result=result, exchange=exchange))

    def failed(self, reason: str | SecurityRefused) -> None:
        """No answer will come; ``reason`` goes into the record."""
        told = ConnectionClosed(f"{self._description()}: {reason}")
        error = reason if isinstance(reason, SecurityRefused) else told
        self._settle(replace(self._unanswered, failure=str(reason)), error)

    def _settle(self, exchange: Exchange, outcome: Response[R] | WireError) -> None:
        if not self._settled.acquire(blocking=False):
            return
        try:
            self._recorder.record(exchange)
        finally:  # a full disk must not leave the waiting thread hanging
            self._outcome = outcome
            self._done.set()

    def _description(self) -> str:
        return f"{self.api} v{self.version} to node {self.node}"
