"""At most one connection a broker, for the producers of one event loop: a request, one try, one answer or none.

As :mod:`harness.clients.wire.connections`, but whoever waits lets the others go on.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from harness.base.addresses import Address
from harness.clients.pipelined.answering_connection import AnsweringConnection
from harness.clients.wire.connections import CONSUMER_VERSIONS, NotSent, R
from harness.wire.api_names import key_of
from harness.wire.api_request import ApiRequest
from harness.wire.frames import decode
from harness.wire.wire_errors import NoAnswer, NotOffered, WireError


@dataclass(slots=True, kw_only=True)
class SharedConnections:
    """Opens nothing yet.

    :param actor: The client id.
    :param highest_versions: By API; of other APIs the highest offered is sent.
    """

    actor: str
    addresses: Mapping[int, Address]
    highest_versions: Mapping[str, int] = field(default_factory=dict)
    _opening: dict[int, "asyncio.Task[AnsweringConnection]"] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """What only a consumer sends is capped as for every wire client."""
        self.highest_versions = {**CONSUMER_VERSIONS, **self.highest_versions}

    @property
    def nodes(self) -> tuple[int, ...]:
        return tuple(sorted(self.addresses))

    async def ask(self, node: int, request: ApiRequest[R], timeout_seconds: float) -> R:
        """Send once and wait for the answer.

        :raises NotSent: When nothing was written.
        :raises WireError: When no answer came; the request may have been written.
        """
        connection = self._ready(node) or await self._connected(node, timeout_seconds)
        try:
            version = connection.highest(request.api, self.highest_versions)
        except NotOffered as error:
            raise NotSent(str(error)) from error
        answer = connection.send(request, version)
        why = f"{request.api} to node {node}: no answer within {timeout_seconds:g} s"
        late = asyncio.get_running_loop().call_later(timeout_seconds, _give_up, answer, why)
        try:
            return request.read(decode(key_of(request.api), version, await answer))
        except (WireError, asyncio.CancelledError):
            self._leave(node, connection)
            raise
        finally:
            late.cancel()

    async def close(self) -> None:
        """End every connection, also those that are being opened."""
        for task in self._opening.values():
            task.cancel()
        for task in self._opening.values():
            with suppress(asyncio.CancelledError, WireError):
                (await task).abort()
        self._opening.clear()

    def _ready(self, node: int) -> AnsweringConnection | None:
        """The broker's connection where it is open."""
        task = self._opening.get(node)
        opened = None if task is None else _opened(task)
        return None if opened is None or opened.closed else opened

    async def _connected(self, node: int, timeout_seconds: float) -> AnsweringConnection:
        """The connection to the broker; those who want one that is being opened wait together."""
        task = self._opening.get(node)
        if task is None or (task.done() and self._ready(node) is None):
            task = self._opening[node] = asyncio.create_task(AnsweringConnection.open(self.addresses[node], self.actor))
        try:
            async with asyncio.timeout(timeout_seconds):
                return await asyncio.shield(task)
        except TimeoutError as error:
            raise NotSent(f"no connection to node {node} within {timeout_seconds:g} s") from error
        except WireError as error:
            raise NotSent(f"no connection to node {node}: {error}") from error

    def _leave(self, node: int, connection: AnsweringConnection) -> None:
        """A broker works on one request of a connection at a time: nothing must wait behind one without an answer."""
        task = self._opening.get(node)
        if task is not None and _opened(task) is connection:
            del self._opening[node]
        connection.abort()


def _opened(task: "asyncio.Task[AnsweringConnection]") -> AnsweringConnection | None:
    """The connection; None while it is being opened, or where that has failed."""
    return task.result() if task.done() and not task.cancelled() and not task.exception() else None


def _give_up(answer: "asyncio.Future[bytes]", why: str) -> None:
    """Nobody waits for it any longer."""
    if not answer.done():
        answer.set_exception(NoAnswer(why))
