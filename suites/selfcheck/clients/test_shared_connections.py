"""Connections that many producers share, against a broker of a few lines in the same event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

import pytest

from harness.base.addresses import Address
from harness.clients.pipelined.shared_connections import SharedConnections
from harness.clients.wire.connections import NotSent
from harness.wire.frame_codec import make_response, request_header, write_response
from harness.wire.requests.groups.heartbeat import Heartbeat
from harness.wire.wire_errors import ConnectionClosed, NoAnswer

T = TypeVar("T")
REQUEST = Heartbeat(group="g", generation=1, member="m")
VERSIONS = ({"api_key": 12, "min_version": 0, "max_version": 4}, {"api_key": 18, "min_version": 0, "max_version": 3})


@dataclass(slots=True)
class AnsweringBroker:
    """Answers ApiVersions, and Heartbeat unless it is silent, by the names of members.

    :param hang_up: Whether a Heartbeat ends the connection.
    """

    silent: set[str] = field(default_factory=set)
    hang_up: bool = False
    connections: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                size = int.from_bytes(await reader.readexactly(4), "big")
                if (answer := self._answer(await reader.readexactly(size))) is not None:
                    writer.write(len(answer).to_bytes(4, "big") + answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def _answer(self, frame: bytes) -> bytes | None:
        head = request_header(frame)
        if head.api == "ApiVersions":
            return write_response(head, make_response(head, error_code=0, api_keys=VERSIONS))
        if self.hang_up:
            raise ConnectionResetError
        return (
            None if any(name.encode() in frame for name in self.silent) else write_response(head, make_response(head))
        )


def talking_to(broker: AnsweringBroker, talk: Callable[[SharedConnections], Awaitable[T]]) -> T:
    """The talk with a broker that listens at an address of its own."""

    async def run() -> T:
        server = await asyncio.start_server(broker.serve, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        connections = SharedConnections(actor="a", addresses={1: Address(host, port)})
        try:
            return await talk(connections)
        finally:
            await connections.close()
            server.close()
            await asyncio.sleep(0.01)

    return asyncio.run(run())


def heartbeat(member: str) -> Heartbeat:
    return Heartbeat(group="g", generation=1, member=member)


def test_requests_of_many_go_over_one_connection_and_each_gets_its_answer() -> None:
    broker = AnsweringBroker()

    async def talk(connections: SharedConnections) -> list[int]:
        answers = await asyncio.gather(*(connections.ask(1, REQUEST, 30) for _ in range(20)))
        return [answer.error for answer in answers]

    assert talking_to(broker, talk) == [0] * 20
    assert broker.connections == 1


def test_silence_ends_the_connection_for_all_who_wait_on_it_and_the_next_request_opens_another() -> None:
    broker = AnsweringBroker(silent={"quiet"})

    async def talk(connections: SharedConnections) -> list[object]:
        opened = (await connections.ask(1, REQUEST, 30)).error
        quiet = asyncio.create_task(connections.ask(1, heartbeat("quiet"), 0.05))
        behind = asyncio.create_task(connections.ask(1, heartbeat("quiet too"), 30))
        failed = await asyncio.gather(quiet, behind, return_exceptions=True)
        return [opened, *map(type, failed), (await connections.ask(1, REQUEST, 30)).error]

    assert talking_to(broker, talk) == [0, NoAnswer, ConnectionClosed, 0]
    assert broker.connections == 2


def test_a_connection_that_ends_is_no_answer_and_an_address_without_listener_is_not_sent() -> None:
    async def ended(connections: SharedConnections) -> None:
        await connections.ask(1, REQUEST, 30)

    with pytest.raises(ConnectionClosed):
        talking_to(AnsweringBroker(hang_up=True), ended)

    async def away(connections: SharedConnections) -> None:
        connections.addresses = {1: Address("127.0.0.1", 1)}
        await connections.ask(1, REQUEST, 30)

    with pytest.raises(NotSent):
        talking_to(AnsweringBroker(), away)


def test_who_is_cancelled_while_a_connection_is_opened_stays_cancelled() -> None:
    async def talk(connections: SharedConnections) -> bool:
        asking = asyncio.create_task(connections.ask(1, REQUEST, 30))
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        return asking.cancelled()

    assert talking_to(AnsweringBroker(), talk)
