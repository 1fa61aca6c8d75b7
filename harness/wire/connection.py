"""One TCP connection to one address: frames out, frames in, each arrival stamped at once by a reader thread."""

import socket
import struct
from contextlib import suppress
from threading import Lock, Thread, current_thread
from typing import Protocol

from harness.base.addresses import Address
from harness.base.clock import RunClock
from harness.wire.wire_errors import ConnectionClosed

CONNECT_WITHIN = 5.0
"""Seconds that a connect may take, and that a write may be stuck in full buffers."""
_LARGEST_FRAME = 1 << 29  # no broker answers more; a larger length is garbage


class Sink(Protocol):
    """Takes one answer."""

    def arrived(self, at: float, frame: bytes) -> None:
        """The answer, header included, and when it came (milliseconds on the run's clock)."""

    def failed(self, reason: str) -> None:
        """No answer will come any more."""


class Connection:
    """Pipelines: any number of requests may be on their way; answers find their sink by correlation id.

    A Kafka broker works on one request of a connection at a time, so a request that is stuck inside the broker also
    holds those behind it. Use a second client for what must not wait.
    """

    def __init__(self, address: Address, clock: RunClock) -> None:
        """Connect; :raises ConnectionClosed: when the connection is not accepted within :data:`CONNECT_WITHIN`."""
        self._clock = clock
        self._waiting: dict[int, Sink] = {}
        self._lock = Lock()
        self._writing = Lock()
        self._closed = False
        self._socket = _connect(address)
        self._reader = Thread(target=self._read_all, name=f"wire {address}", daemon=True)
        self._reader.start()

    @property
    def closed(self) -> bool:
        """Whether either side has closed it."""
        return self._closed

    def send(self, correlation: int, frame: bytes, sink: Sink) -> None:
        """Write a frame; its answer, or its failure, goes to ``sink``, also when the connection is already closed."""
        with self._lock:
            if not self._closed:
                self._waiting[correlation] = sink
        if self._closed:
            self._end("closed")
            sink.failed("closed")
            return
        try:
            with self._writing:
                self._socket.sendall(frame)
        except OSError:
            self._end("closed")

    def close(self, reason: str = "closed") -> None:
        """Close; requests that wait for an answer fail with ``reason``."""
        self._end(reason)
        if self._reader is not current_thread():
            self._reader.join(CONNECT_WITHIN)

    def _read_all(self) -> None:
        try:
            with suppress(OSError):
                while frame := self._read_frame():
                    self._deliver(self._clock.now(), frame)
        finally:
            self._end("closed")
            self._socket.close()

    def _read_frame(self) -> bytes:
        prefix = self._read_exactly(4)
        size = struct.unpack(">i", prefix)[0] if prefix else 0
        return self._read_exactly(size) if 4 <= size <= _LARGEST_FRAME else b""

    def _read_exactly(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            chunk = self._socket.recv(size - len(data))
            if not chunk:
                return b""
            data += chunk
        return bytes(data)

    def _deliver(self, at: float, frame: bytes) -> None:
        with self._lock:
            sink = self._waiting.pop(struct.unpack_from(">i", frame)[0], None)
        if sink is not None:
            sink.arrived(at, frame)

    def _end(self, reason: str) -> None:
        with self._lock:
            self._closed = True
            left, self._waiting = self._waiting, {}
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the reader, which closes the socket
        for sink in left.values():
            sink.failed(reason)


def _connect(address: Address) -> socket.socket:
    try:
        connected = socket.create_connection((address.host, address.port), CONNECT_WITHIN)
    except OSError as error:
        raise ConnectionClosed(f"{address} cannot be reached: {error}") from error
    connected.settimeout(None)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(CONNECT_WITHIN), 0))
    return connected
