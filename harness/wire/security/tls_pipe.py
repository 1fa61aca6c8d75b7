"""TLS without a socket: bytes of the peer in, bytes for the peer out.

A socket of Python's ``ssl`` must not be read by one thread while another writes to it; here a lock stands around the
few microseconds of the cipher, and the waiting is the socket's, outside.
"""

import ssl
from threading import Lock

_MOST = 1 << 18  # read at once; a record is at most 16 KiB


class TlsPipe:
    """One connection's TLS, as client."""

    def __init__(self, context: ssl.SSLContext, server_name: str) -> None:
        """:param server_name: The name (or IP address) that is verified; a name is also sent (SNI)."""
        self._from_peer, self._to_peer = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._from_peer, self._to_peer, server_hostname=server_name)
        self._lock = Lock()

    def handshake(self, received: bytes = b"") -> tuple[bool, bytes]:
        """Go on with the handshake; whether it is over, and what must be sent first.

        :raises ssl.SSLError: When it failed; :meth:`farewell` has the alert for the peer.
        """
        with self._lock:
            self._from_peer.write(received)
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                return False, self._to_peer.read()
            return True, self._to_peer.read()

    def farewell(self) -> bytes:
        """What is still to be sent: the alert of a handshake that failed."""
        with self._lock:
            return self._to_peer.read()

    def encrypt(self, plain: bytes) -> bytes:
        """The bytes to send for ``plain``; call and send in one order."""
        with self._lock:
            self._tls.write(plain)
            return self._to_peer.read()

    def decrypt(self, received: bytes = b"") -> bytes:
        """What the peer said with all that came so far; b"" while a record is incomplete, or when it said goodbye.

        :raises ssl.SSLError: For an alert, and for bytes that are no TLS.
        """
        with self._lock:
            self._from_peer.write(received)
            plain = bytearray()
            try:
                while chunk := self._tls.read(_MOST):
                    plain += chunk
            except (ssl.SSLWantReadError, ssl.SSLZeroReturnError):
                pass
            return bytes(plain)
