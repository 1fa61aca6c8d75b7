"""One end of a connection, cut into frames: a four-byte length and so many bytes (Kafka's ``NetworkReceive``)."""

import asyncio
import socket
from collections.abc import Callable
from typing import cast

SHORTEST, LONGEST = 4, 1 << 29
"""Bytes of a frame: it has at least a correlation id, and a length of half a gibibyte or more is taken as garbage."""


class FramedProtocol(asyncio.Protocol):
    """Gives whole frames, lengths included, and reports the end once. Writes may come before it is connected."""

    def __init__(self, on_frame: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_frame = on_frame
        self._on_end = on_end
        self._buffer = b""
        self._transport: asyncio.Transport | None = None
        self.ended = False
        self.peer: FramedProtocol | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send small frames at once, without Nagle's delay."""
        self._transport = cast(asyncio.Transport, transport)
        connected = cast(socket.socket, transport.get_extra_info("socket"))
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        """Give every whole frame; an impossible length ends the connection, as a broker ends it."""
        data = self._buffer + data if self._buffer else data
        offset, received = 0, len(data)
        while received - offset >= 4 and not self.ended:
            size = int.from_bytes(data[offset : offset + 4], "big")
            if not SHORTEST <= size <= LONGEST:
                self.abort()
                return
            if received - offset < 4 + size:
                break
            self._on_frame(data[offset : offset + 4 + size])
            offset += 4 + size
        self._buffer = data[offset:] if offset else data

    def send(self, raw: bytes) -> bool:
        """Write a frame; false on a connection that has ended or is about to, where it is lost."""
        if self._transport is None or self.ended or self._transport.is_closing():
            return False
        self._transport.write(raw)
        return True

    def finish(self) -> None:
        """Send nothing more; what comes is still taken."""
        if self._transport is not None and not self.ended and self._transport.can_write_eof():
            self._transport.write_eof()

    def close(self) -> None:
        """End the connection once all that was written is sent."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()
        self._end()

    def connection_lost(self, _error: Exception | None) -> None:
        self._end()

    def pause_writing(self) -> None:
        """Our buffer is full: read no more from the other end."""
        if self.peer is not None and self.peer._transport is not None:
            self.peer._transport.pause_reading()

    def resume_writing(self) -> None:
        """There is room again."""
        if self.peer is not None and self.peer._transport is not None and not self.peer.ended:
            self.peer._transport.resume_reading()

    def _end(self) -> None:
        if not self.ended:
            self.ended = True
            self._on_end()


def with_length(frame: bytes) -> bytes:
    """A frame as it is written."""
    return len(frame).to_bytes(4, "big") + frame


def key_and_version(raw: bytes) -> tuple[int, int]:
    """Of a request, as it was written."""
    return int.from_bytes(raw[4:6], "big"), int.from_bytes(raw[6:8], "big")
