"""A TCP connection, with TLS on it where the listener speaks it: one thread reads while any others write in turn."""

import socket
import ssl
import struct
from contextlib import suppress

from harness.base.addresses import Address
from harness.wire.security.security import Security
from harness.wire.security.tls_context import tls_context
from harness.wire.security.tls_pipe import TlsPipe
from harness.wire.security.tls_refusals import closed_in_handshake, tls_refused
from harness.wire.wire_errors import ConnectionClosed

CONNECT_WITHIN = 5.0
"""Seconds that a connect may take, and that a write may be stuck in full buffers."""
_READ = 1 << 16


class ByteStream:
    """Connects when it is made; TLS begins with :meth:`start_tls`. Errors of the socket are :class:`OSError`."""

    def __init__(self, address: Address, security: Security, server_name: str) -> None:
        """:raises ConnectionClosed: When the connection is not accepted within :data:`CONNECT_WITHIN`."""
        self._address = address
        self._security = security
        self._server_name = server_name
        self._socket = _connect(address)
        self._tls: TlsPipe | None = None
        self._read = bytearray()

    def start_tls(self) -> None:
        """Agree on TLS, however long the peer takes; nothing where the listener speaks plaintext.

        :raises SecurityRefused: When that failed, in one sentence.
        """
        if self._security.tls is None:
            return
        pipe = TlsPipe(tls_context(self._security.tls), self._server_name)
        try:
            self._shake_hands(pipe)
        except ssl.SSLError as error:
            with suppress(OSError):
                self._socket.sendall(pipe.farewell())
            raise tls_refused(error, self._address, self._server_name, self._security) from error
        self._tls = pipe
        self._read += pipe.decrypt()  # what came in one piece with the handshake's end

    def write(self, data: bytes) -> None:
        """All of it; by one thread at a time."""
        self._socket.sendall(data if self._tls is None else self._tls.encrypt(data))

    def read_exactly(self, size: int) -> bytes:
        """So many bytes, or b"" when the connection ended before; by one thread.

        :raises SecurityRefused: When the peer ends TLS with an alert.
        """
        while len(self._read) < size:
            received = self._socket.recv(max(_READ, size - len(self._read)))
            if not received:
                return b""
            self._read += self._plain(received)
        taken = bytes(self._read[:size])
        del self._read[:size]
        return taken

    def shutdown(self) -> None:
        """End both directions, which wakes the thread that reads."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Give the socket back; only after the reading thread has ended."""
        self._socket.close()

    def _shake_hands(self, pipe: TlsPipe) -> None:
        done, to_send = pipe.handshake()
        while not done:
            self._socket.sendall(to_send)
            received = self._received_in_handshake()
            if not received:
                raise closed_in_handshake(self._address, self._security)
            done, to_send = pipe.handshake(received)
        self._socket.sendall(to_send)

    def _received_in_handshake(self) -> bytes:
        try:
            return self._socket.recv(_READ)
        except ConnectionResetError:
            return b""

    def _plain(self, received: bytes) -> bytes:
        if self._tls is None:
            return received
        try:
            return self._tls.decrypt(received)
        except ssl.SSLError as error:
            raise tls_refused(error, self._address, self._server_name, self._security) from error


def _connect(address: Address) -> socket.socket:
    try:
        connected = socket.create_connection((address.host, address.port), CONNECT_WITHIN)
    except OSError as error:
        raise ConnectionClosed(f"{address} cannot be reached: {error}") from error
    connected.settimeout(None)
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(CONNECT_WITHIN), 0))
    return connected
