"""One connection to one address: frames out, frames in, each arrival stamped at once by a reader thread.

TLS and SASL precede the first frame, and SASL comes again before its session ends (KIP-368). All that is the reader
thread's work; frames that are given meanwhile wait, and go in their order, as they would behind a slow network.
"""

import struct
from contextlib import suppress
from threading import Lock, Thread, current_thread
from typing import Protocol

from harness.base.addresses import Address
from harness.base.clock import RunClock
from harness.wire.byte_stream import CONNECT_WITHIN, ByteStream
from harness.wire.security.authentication import (
    CORRELATION,
    Conversation,
    SaslSession,
    authenticate,
    authenticate_again,
)
from harness.wire.security.security import PLAINTEXT, Security
from harness.wire.security.tls_refusals import ALERT, answered_with_alert
from harness.wire.wire_errors import SecurityRefused

_LARGEST_FRAME = 1 << 29  # no broker answers more; a larger length is garbage


class Sink(Protocol):
    """Takes one answer."""

    def arrived(self, at: float, frame: bytes) -> None:
        """The answer, header included, and when it came (milliseconds on the run's clock)."""

    def failed(self, reason: str | SecurityRefused) -> None:
        """No answer will come any more."""


class Connection:
    """Pipelines: any number of requests may be on their way; answers find their sink by correlation id.

    A Kafka broker works on one request of a connection at a time, so a request that is stuck inside the broker also
    holds those behind it. Use a second client for what must not wait.
    """

    def __init__(
        self,
        address: Address,
        clock: RunClock,
        security: Security = PLAINTEXT,
        server_name: str | None = None,
        *,
        actor: str = "fencepost",
    ) -> None:
        """Connect; a failure of TLS or SASL is told to the sinks.

        :param server_name: What the broker's certificate must be for; the address's host where it is not given.
        :param actor: The client id.
        :raises ConnectionClosed: When the connection is not accepted within :data:`CONNECT_WITHIN`.
        """
        self._address = address
        self._clock = clock
        self._security = security
        self._actor = actor
        self._waiting: dict[int, Sink] = {}
        self._lock = Lock()
        self._writing = Lock()
        self._closed = False
        self._refusal: SecurityRefused | None = None
        self._held: list[bytes] | None = None if security.plaintext else []
        self._conversation: Conversation | None = None
        self._session: SaslSession | None = None
        self._renew_at: float | None = None
        self._authentications = 0
        self._stream = ByteStream(address, security, server_name or address.host)
        self._reader = Thread(target=self._read_all, name=f"wire {address}", daemon=True)
        self._reader.start()

    @property
    def closed(self) -> bool:
        """Whether either side has closed it."""
        return self._closed

    @property
    def authentications(self) -> int:
        """How often SASL has succeeded on it."""
        return self._authentications

    def send(self, correlation: int, frame: bytes, sink: Sink) -> None:
        """Write a frame; its answer, or its failure, goes to ``sink``, also when the connection is already closed."""
        with self._lock:
            if not self._closed:
                self._waiting[correlation] = sink
        if self._closed:
            self._end("closed")
            sink.failed(self._refusal or "closed")
            return
        try:
            with self._writing:
                self._write(frame)
        except OSError:
            self._end("closed")
        except SecurityRefused as refusal:
            self._end(refusal)

    def close(self, reason: str = "closed") -> None:
        """Close; requests that wait for an answer fail with ``reason``."""
        self._end(reason)
        if self._reader is not current_thread():
            self._reader.join(CONNECT_WITHIN)

    def _write(self, frame: bytes) -> None:
        if self._held is None and self._renew_at is not None and self._clock.now() >= self._renew_at:
            self._begin_renewal()
        if self._held is None:
            self._stream.write(frame)
        else:
            self._held.append(frame)

    def _begin_renewal(self) -> None:
        assert self._session is not None, "a time for renewal comes with a session"
        who, version = str(self._address), self._session.version
        self._conversation = authenticate_again(self._security, who, self._actor, version)
        self._held = []
        self._stream.write(next(self._conversation))

    def _read_all(self) -> None:
        reason: str | SecurityRefused = "closed"
        try:
            with suppress(OSError):
                self._open()
                while frame := self._read_frame():
                    self._deliver(self._clock.now(), frame)
        except SecurityRefused as refusal:
            reason = refusal
        finally:
            self._end(reason)
            self._stream.close()

    def _open(self) -> None:
        if self._security.plaintext:
            return
        self._stream.start_tls()
        with self._writing:
            if self._security.sasl is None:
                self._release()
                return
            self._conversation = authenticate(self._security, str(self._address), self._actor)
            self._stream.write(next(self._conversation))

    def _read_frame(self) -> bytes:
        prefix = self._stream.read_exactly(4)
        if prefix.startswith(ALERT) and self._security.tls is None:
            raise answered_with_alert(self._address, self._security)
        size = struct.unpack(">i", prefix)[0] if prefix else 0
        return self._stream.read_exactly(size) if 4 <= size <= _LARGEST_FRAME else b""

    def _deliver(self, at: float, frame: bytes) -> None:
        correlation = struct.unpack_from(">i", frame)[0]
        if correlation == CORRELATION and self._conversation is not None:
            self._converse(self._conversation, at, frame)
            return
        with self._lock:
            sink = self._waiting.pop(correlation, None)
        if sink is not None:
            sink.arrived(at, frame)

    def _converse(self, conversation: Conversation, at: float, frame: bytes) -> None:
        with self._writing:
            try:
                self._stream.write(conversation.send(frame))
            except StopIteration as agreed:
                self._session, self._conversation = agreed.value, None
                self._authentications += 1
                after = agreed.value.renew_after_ms
                self._renew_at = None if after is None else at + after
                self._release()

    def _release(self) -> None:
        """Write what has waited; the caller holds the lock for writing.

        Where that fails, the peer may have told why: it is read next.
        """
        held, self._held = self._held or [], None
        with suppress(OSError):
            for frame in held:
                self._stream.write(frame)

    def _end(self, reason: str | SecurityRefused) -> None:
        with self._lock:
            self._closed = True
            if isinstance(reason, SecurityRefused):
                self._refusal = self._refusal or reason
            left, self._waiting = self._waiting, {}
        self._stream.shutdown()  # wakes the reader, which closes the socket
        for sink in left.values():
            sink.failed(reason)
