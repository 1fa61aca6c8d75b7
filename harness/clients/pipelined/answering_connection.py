"""A plaintext connection in an event loop: requests are written at once, answers find theirs by correlation id."""

import asyncio
import socket
from collections.abc import Mapping
from itertools import count
from typing import Any, cast

from harness.base.addresses import Address
from harness.base.kafka_error import KafkaError, error_name
from harness.wire.api_names import key_of, known_versions
from harness.wire.api_request import ApiRequest
from harness.wire.byte_stream import CONNECT_WITHIN
from harness.wire.frames import decode, encode
from harness.wire.offered import Offered
from harness.wire.requests.cluster.api_versions import ApiVersions
from harness.wire.wire_errors import ConnectionClosed, NotOffered, UnreadableAnswer

LONGEST = 1 << 29
"""A longer frame is garbage; no broker answers so much."""
API_VERSIONS_TRIED = (3, 0)


class AnsweringConnection(asyncio.Protocol):
    """One connection to one broker, for one client id."""

    def __init__(self, actor: str) -> None:
        self._actor = actor
        self._buffer = b""
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._numbers = count(1)
        self._transport: asyncio.Transport | None = None
        self._versions: dict[str, int] = {}
        self.offered = Offered()
        self.closed = False

    @classmethod
    async def open(cls, address: Address, actor: str) -> "AnsweringConnection":
        """Connected, and told what the broker offers.

        :raises ConnectionClosed, UnreadableAnswer: When that did not come about; nothing is left open.
        """
        connection = cls(actor)
        try:
            async with asyncio.timeout(CONNECT_WITHIN):
                loop = asyncio.get_running_loop()
                await loop.create_connection(lambda: connection, address.host, address.port)
                await connection.learn()
        except OSError as error:  # a TimeoutError too
            connection.abort()
            raise ConnectionClosed(f"{address} cannot be reached: {error or 'no answer'}") from error
        except BaseException:
            connection.abort()
            raise
        return connection

    async def learn(self) -> None:
        """Ask what the broker offers, as a client does on every new connection."""
        for version in API_VERSIONS_TRIED:
            offered = await self._offered(version)
            if offered.error != KafkaError.UNSUPPORTED_VERSION:
                break
        if offered.error:
            raise UnreadableAnswer(f"ApiVersions was answered with {error_name(offered.error)}")
        self.offered = offered

    def highest(self, api: str, caps: Mapping[str, int]) -> int:
        """The highest version that both sides know, not above that in ``caps``; :raises NotOffered: when none is."""
        known = self._versions.get(api)
        if known is None:
            cap = caps.get(api)
            ours = [version for version in known_versions(api) if cap is None or version <= cap]
            common = [version for version in ours if self.offered.offers(api, version)]
            if not common:
                raise NotOffered(f"the broker offers {self.offered.range_of(api)}")
            known = self._versions[api] = common[-1]
        return known

    def send(self, request: ApiRequest[Any], version: int) -> "asyncio.Future[bytes]":
        """Write the request; the answer's frame, or :class:`ConnectionClosed`, comes by the future."""
        number = next(self._numbers)
        answer = asyncio.get_running_loop().create_future()
        if self.closed or self._transport is None:
            answer.set_exception(ConnectionClosed("closed"))
            return answer
        self._waiting[number] = answer
        self._transport.write(encode(request.build(version), number, self._actor))
        return answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send small frames at once, without Nagle's delay."""
        self._transport = cast(asyncio.Transport, transport)
        connected = cast(socket.socket, transport.get_extra_info("socket"))
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        """Hand over every whole frame, without its length."""
        data = self._buffer + data if self._buffer else data
        offset, received = 0, len(data)
        while received - offset >= 4:
            size = int.from_bytes(data[offset : offset + 4], "big")
            if not 4 <= size <= LONGEST:
                self.abort()
                return
            if received - offset < 4 + size:
                break
            self._deliver(data[offset + 4 : offset + 4 + size])
            offset += 4 + size
        self._buffer = data[offset:] if offset else data

    def connection_lost(self, _error: Exception | None) -> None:
        """What waits for an answer will get none."""
        self.closed = True
        left, self._waiting = self._waiting, {}
        for answer in left.values():
            if not answer.done():
                answer.set_exception(ConnectionClosed("the connection ended before the answer"))

    def abort(self) -> None:
        """End it; what was written may still arrive."""
        self.closed = True
        if self._transport is not None:
            self._transport.abort()

    async def _offered(self, version: int) -> Offered:
        request = ApiVersions()
        frame = await self.send(request, version)
        return request.read(decode(key_of(request.api), version, frame))

    def _deliver(self, frame: bytes) -> None:
        answer = self._waiting.pop(int.from_bytes(frame[:4], "big"), None)
        if answer is not None and not answer.done():
            answer.set_result(frame)
