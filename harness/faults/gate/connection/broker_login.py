"""How the gate connects to a broker that asks for TLS or SASL: before the first request of a client, and again in time.

A session is renewed (KIP-368) when its time is nearly over and another request is to be written; that one waits, since
between SaslHandshake and the last SaslAuthenticate a broker takes nothing else.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from harness.base.addresses import Address
from harness.wire.security.authentication import (
    CORRELATION,
    Conversation,
    SaslSession,
    authenticate,
    authenticate_again,
)
from harness.wire.security.security import Security
from harness.wire.wire_errors import ConnectionClosed

ACTOR = "fencepost-gate"
"""The client id of the gate's own requests."""


@dataclass(slots=True, kw_only=True)
class BrokerLogin:
    """SASL on one connection.

    :param send: Writes a frame to the broker.
    """

    security: Security
    broker: Address
    send: Callable[[bytes], object]
    _answer: "asyncio.Future[bytes] | None" = None
    _session: SaslSession | None = None
    _renew_at: float | None = field(default=None)

    @property
    def due(self) -> bool:
        """Whether :meth:`perform` comes before the next request."""
        if self.security.sasl is None:
            return False
        return self._session is None or (self._renew_at is not None and _now() >= self._renew_at)

    async def perform(self) -> None:
        """Authenticate, or renew the session.

        :raises SecurityRefused: When the broker does not take it.
        :raises ConnectionClosed: When the connection ended meanwhile.
        """
        conversation, answer = self._conversation(), None
        while isinstance(said := await asyncio.to_thread(_next, conversation, answer), bytes):
            self._answer = asyncio.get_running_loop().create_future()
            self.send(said)
            answer = await self._answer
        self._session = said
        self._renew_at = None if said.renew_after_ms is None else _now() + said.renew_after_ms / 1000

    def takes(self, raw: bytes) -> bool:
        """Whether a frame (with its length) was the broker's answer to us; then it is no client's."""
        waiting = self._answer is not None and not self._answer.done()
        if not waiting or int.from_bytes(raw[4:8], "big") != CORRELATION:
            return False
        assert self._answer is not None
        self._answer.set_result(raw[4:])
        return True

    def end(self) -> None:
        """The connection has ended: no answer will come."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionClosed(f"{self.broker} ended the connection"))

    def _conversation(self) -> Conversation:
        who = str(self.broker)
        if self._session is None:
            return authenticate(self.security, who, ACTOR)
        return authenticate_again(self.security, who, ACTOR, self._session.version)


def _next(conversation: Conversation, answer: bytes | None) -> bytes | SaslSession:
    """The next frame, or the session at the end. In a thread: it may wait for a token, and SCRAM takes its time."""
    try:
        return next(conversation) if answer is None else conversation.send(answer)
    except StopIteration as done:
        session: SaslSession = done.value
        return session


def _now() -> float:
    return asyncio.get_running_loop().time()
