"""A plaintext connection in an event loop: requests are written at once, answers find theirs by correlation id."""

import asyncio
from collections.abc import Mapping
from itertools import count
from typing import Any

from harness.base.addresses import Address
from harness.base.kafka_error import KafkaError, error_name
from harness.wire.api_names import key_of, known_versions
from harness.wire.api_request import ApiRequest
from harness.wire.byte_stream import CONNECT_WITHIN
from harness.wire.framed_protocol import FramedProtocol
from harness.wire.frames import decode, encode
from harness.wire.offered import Offered
from harness.wire.requests.cluster.api_versions import ApiVersions
from harness.wire.wire_errors import ConnectionClosed, NotOffered, UnreadableAnswer

API_VERSIONS_TRIED = (3, 0)


class AnsweringConnection:
    """One connection to one broker, for one client id."""

    def __init__(self, actor: str) -> None:
        self._actor = actor
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._numbers = count(1)
        self._framed = FramedProtocol(self._deliver, self._ended)
        self._versions: dict[str, int] = {}
        self.offered = Offered()

    @property
    def closed(self) -> bool:
        """Whether no answer comes by it any more."""
        return self._framed.ended

    @classmethod
    async def open(cls, address: Address, actor: str) -> "AnsweringConnection":
        """Connected, and told what the broker offers.

        :raises ConnectionClosed, UnreadableAnswer: When that did not come about; nothing is left open.
        """
        connection = cls(actor)
        try:
            async with asyncio.timeout(CONNECT_WITHIN):
                loop = asyncio.get_running_loop()
                await loop.create_connection(lambda: connection._framed, address.host, address.port)
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
        if self._framed.send(encode(request.build(version), number, self._actor)):
            self._waiting[number] = answer
        else:
            answer.set_exception(ConnectionClosed("closed"))
        return answer

    def abort(self) -> None:
        """End it; what was written may still arrive."""
        self._framed.abort()

    async def _offered(self, version: int) -> Offered:
        request = ApiVersions()
        frame = await self.send(request, version)
        return request.read(decode(key_of(request.api), version, frame))

    def _deliver(self, raw: bytes) -> None:
        answer = self._waiting.pop(int.from_bytes(raw[4:8], "big"), None)
        if answer is not None and not answer.done():
            answer.set_result(raw[4:])

    def _ended(self) -> None:
        """What waits for an answer will get none."""
        left, self._waiting = self._waiting, {}
        for answer in left.values():
            if not answer.done():
                answer.set_exception(ConnectionClosed("the connection ended before the answer"))
