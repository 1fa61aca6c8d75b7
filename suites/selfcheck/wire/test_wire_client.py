"""The client against a broker of a few lines: answers, silence, the end of a connection, and what is recorded."""

import itertools
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import pytest

from harness.base.addresses import Address
from harness.base.clock import RunClock
from harness.base.kafka_error import KafkaError
from harness.evidence.exchange import Exchange
from harness.evidence.recorder import NullRecorder
from harness.wire.connection import Connection
from harness.wire.requests.groups.find_coordinator import GROUP, FindCoordinator
from harness.wire.requests.transactions.end_txn import EndTxn
from harness.wire.requests.transactions.list_transactions import ListTransactions
from harness.wire.wire_client import WireClient
from harness.wire.wire_errors import CannotBuild, ConnectionClosed, NoAnswer, NotOffered, UnreadableAnswer

END_TXN = 26
API_VERSIONS = 18
END = EndTxn(transactional_id="who", producer_id=4711, producer_epoch=0, committed=True)
OLD_BROKER = struct.pack(">hi", 0, 4) + struct.pack(">hhh", 18, 0, 2) + struct.pack(">hhh", 26, 0, 3)
OLD_BROKER += struct.pack(">hhh", 66, 0, 0) + struct.pack(">hhh", 10, 0, 2)
UNSUPPORTED = struct.pack(">hi", KafkaError.UNSUPPORTED_VERSION, 0)


def ended(error: int) -> bytes:
    """The answer to EndTxn v3, which is flexible: a header tag count, throttle time, error, a tag count."""
    return b"\0" + struct.pack(">ih", 0, error) + b"\0"


GOOD = ended(0)

Reply = Callable[["Link", int], None]


@dataclass
class Recording:
    """A recorder in memory."""

    exchanges: list[Exchange] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def next_number(self) -> int:
        return next(self.numbers)

    def record(self, exchange: Exchange) -> None:
        self.exchanges.append(exchange)

    def of(self, api: str) -> list[Exchange]:
        return [exchange for exchange in self.exchanges if exchange.api == api]


@dataclass
class Link:
    """The broker's end of one connection."""

    connected: socket.socket
    asked: list[int]

    def answer(self, correlation: int, body: bytes) -> None:
        self.connected.sendall(struct.pack(">ii", 4 + len(body), correlation) + body)

    def close(self) -> None:
        self.connected.shutdown(socket.SHUT_RDWR)


def serve(link: Link, reply: Reply) -> None:
    """Answer ApiVersions as an old broker would (v0 only), and leave EndTxn to ``reply``."""
    with suppress(OSError, struct.error), link.connected:
        while True:
            size = struct.unpack(">i", link.connected.recv(4, socket.MSG_WAITALL))[0]
            key, version, correlation = struct.unpack_from(">hhi", link.connected.recv(size, socket.MSG_WAITALL))
            link.asked.append(version)
            if key == API_VERSIONS:
                link.answer(correlation, OLD_BROKER if version == 0 else UNSUPPORTED)
            else:
                reply(link, correlation)


@contextmanager
def broker(reply: Reply) -> Iterator[tuple[Address, list[int]]]:
    """A broker at an address of its own; gives the address and the versions that it was asked at."""
    asked: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connected, _ = listener.accept()
                    threading.Thread(target=serve, args=(Link(connected, asked), reply), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield Address(*listener.getsockname()), asked
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(2)


@contextmanager
def talking_to(reply: Reply) -> Iterator[tuple[WireClient, Recording, list[int]]]:
    """A client of a broker that answers EndTxn with ``reply``."""
    recording = Recording()
    with broker(reply) as (address, asked):
        client = client_of(address, recording)
        yield client, recording, asked
        client.close()


def client_of(address: Address, recording: Recording) -> WireClient:
    return WireClient(
        actor="victim", lane="victim", addresses={1: address}, clock=RunClock(), recorder=recording, requirement="R-1"
    )


def well(link: Link, correlation: int) -> None:
    link.answer(correlation, GOOD)


def never(_link: Link, _correlation: int) -> None:
    pass


def hang_up(link: Link, _correlation: int) -> None:
    link.close()


def test_an_answer_is_typed_timed_and_recorded_once() -> None:
    with talking_to(well) as (client, recording, _):
        answer = client.call(1, END, 3)
    assert (answer.result.error, answer.result.producer_epoch) == (0, -1)
    assert recording.of("EndTxn") == [answer.exchange]
    exchange = answer.exchange
    assert exchange.answered is not None
    assert 0 < exchange.sent <= exchange.answered
    assert (exchange.actor, exchange.lane, exchange.node, exchange.key, exchange.version) == (
        "victim", "victim", 1, END_TXN, 3,
    )  # fmt: skip
    assert exchange.requirement == "R-1"
    assert exchange.request["producer_id"] == 4711
    assert exchange.answer == {"throttle_time": 0, "error_code": 0}
    assert exchange.failure is None


def test_an_old_broker_is_asked_again_at_a_version_that_it_knows_and_only_once() -> None:
    with talking_to(well) as (client, recording, asked):
        assert client.offered(1).apis["EndTxn"] == (0, 3)
        assert client.offered(1) is client.offered(1)
        assert asked == [4, 3, 0]
        assert [exchange.version for exchange in recording.of("ApiVersions")] == [4, 3, 0]
        client.refresh(1)
        assert asked == [4, 3, 0, 4, 3, 0]


def test_without_a_version_the_highest_that_both_know_is_sent() -> None:
    with talking_to(well) as (client, _, _):
        assert client.call(1, END).exchange.version == 3
        assert client.highest(1, "EndTxn", cap=1) == 1


def coordinator_at(node: int) -> bytes:
    """The answer to FindCoordinator v0: error, node, host and port."""
    return struct.pack(">hih", 0, node, 1) + b"h" + struct.pack(">i", 9092)


def test_a_question_whose_newest_answers_cannot_be_read_is_asked_as_an_older_client_would() -> None:
    def only_v0_well(link: Link, correlation: int) -> None:
        link.answer(correlation, coordinator_at(7) + b"\0" * (link.asked[-1] > 0))

    with talking_to(only_v0_well) as (client, recording, _):
        assert client.call(1, FindCoordinator(key="who", key_type=GROUP)).result.node == 7
        assert client.highest(1, "FindCoordinator") == 0
        client.call(1, FindCoordinator(key="who", key_type=GROUP))
        assert [exchange.version for exchange in recording.of("FindCoordinator")] == [2, 1, 0, 0]
        with pytest.raises(UnreadableAnswer):
            client.call(1, FindCoordinator(key="who", key_type=GROUP), 1)


def test_a_request_that_changes_something_is_never_repeated_for_an_unreadable_answer() -> None:
    with talking_to(lambda link, correlation: link.answer(correlation, GOOD + b"\0")) as (client, recording, _):
        with pytest.raises(UnreadableAnswer):
            client.call(1, END)
        assert [exchange.version for exchange in recording.of("EndTxn")] == [3]


def test_a_version_that_is_not_offered_is_refused_before_anything_is_sent() -> None:
    with talking_to(well) as (client, recording, _):
        with pytest.raises(NotOffered, match=r"^broker 1 offers EndTxn 0–3; version 5 is not offered$"):
            client.send(1, END, 5)
        assert recording.of("EndTxn") == []


def test_an_api_that_is_not_offered_is_named() -> None:
    with talking_to(well) as (client, _, _):
        with pytest.raises(NotOffered, match=r"^broker 1 offers no WriteTxnMarkers; known are 1–2$"):
            client.highest(1, "WriteTxnMarkers")
        with pytest.raises(CannotBuild):
            client.call(1, ListTransactions(pattern="w.*"))


def test_silence_is_no_answer_and_may_be_waited_for_again() -> None:
    held: list[tuple[Link, int]] = []
    with talking_to(lambda link, correlation: held.append((link, correlation))) as (client, recording, _):
        pending = client.send(1, END, 3)
        with pytest.raises(NoAnswer, match=r"EndTxn v3 to node 1: no answer within 0\.05 s"):
            pending.wait(0.05)
        assert not pending.done()
        assert recording.of("EndTxn") == []
        held[0][0].answer(held[0][1], GOOD)
        answer = pending.wait(2)
        assert pending.done()
        assert pending.wait(0) is answer
    assert recording.of("EndTxn") == [answer.exchange]


def test_what_was_never_answered_is_recorded_when_the_client_closes() -> None:
    with talking_to(never) as (client, recording, _):
        pending = client.send(1, END, 3)
        client.close()
        client.close()
    (exchange,) = recording.of("EndTxn")
    assert (exchange.number, exchange.answered, exchange.failure) == (pending.number, None, "no answer")
    with pytest.raises(ConnectionClosed):
        pending.wait(0)


def test_a_closed_connection_fails_all_that_was_on_it_and_the_next_request_opens_another() -> None:
    replies = iter((never, hang_up, well))
    with talking_to(lambda link, correlation: next(replies)(link, correlation)) as (client, recording, _):
        lost = [client.send(1, END, 3), client.send(1, END, 2)]
        for pending in lost:
            with pytest.raises(ConnectionClosed, match="to node 1: closed"):
                pending.wait(2)
        assert client.call(1, END).result.error == 0
    exchanges = recording.of("EndTxn")
    assert [exchange.failure for exchange in exchanges] == ["closed", "closed", None]
    assert len({exchange.number for exchange in exchanges}) == 3


def test_requests_are_pipelined_and_answers_find_their_own_in_any_order() -> None:
    held: list[int] = []

    def reversed_answers(link: Link, correlation: int) -> None:
        held.append(correlation)
        if len(held) == 3:
            for nth, waiting in enumerate(reversed(held)):
                link.answer(waiting, ended(47 + nth))

    with talking_to(reversed_answers) as (client, _, _):
        pending = [client.send(1, END, 3) for _ in range(3)]
        assert [each.wait(2).result.error for each in pending] == [49, 48, 47]


def test_many_threads_may_use_one_client() -> None:
    with talking_to(well) as (client, recording, asked):
        threads = [threading.Thread(target=client.call, args=(1, END)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(5)
        assert asked.count(0) == 1
    assert len(recording.of("EndTxn")) == 8


def test_an_unreadable_answer_is_recorded_as_such_and_the_connection_goes_on() -> None:
    replies = iter((lambda link, correlation: link.answer(correlation, b"?"), well))
    with talking_to(lambda link, correlation: next(replies)(link, correlation)) as (client, recording, _):
        with pytest.raises(UnreadableAnswer):
            client.call(1, END)
        assert client.call(1, END).result.error == 0
    failures = [exchange.failure for exchange in recording.of("EndTxn")]
    assert str(failures[0]).startswith("unreadable: EndTxn v3")
    assert failures[1] is None


def test_an_address_without_listener_is_recorded_and_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = Address(*listener.getsockname())
    recording = Recording()
    client = client_of(address, recording)
    with pytest.raises(ConnectionClosed, match=f"no connection: {address} cannot be reached"):
        client.offered(1)
    client.close()
    assert [exchange.failure is not None for exchange in recording.exchanges] == [True]


def test_a_connection_that_was_being_opened_when_its_client_was_closed_is_closed_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opening, closed = threading.Event(), threading.Event()
    opened: list[Connection] = []
    with broker(well) as (address, asked):
        client = client_of(address, Recording())
        client.learn(1, client.refresh(1))
        client.leave(1)
        before = list(asked)

        def slow(_node: int) -> Connection:
            opening.set()
            closed.wait(5)
            opened.append(Connection(address, RunClock()))
            return opened[0]

        monkeypatch.setattr(client, "_connected", slow)
        answers: list[Exception] = []

        def ask() -> None:
            try:
                client.call(1, END, 3)
            except ConnectionClosed as error:
                answers.append(error)

        asker = threading.Thread(target=ask)
        asker.start()
        assert opening.wait(5)
        client.close()
        closed.set()
        asker.join(5)
    assert [one.closed for one in opened] == [True]
    assert "the client was closed" in str(answers[0])
    assert asked == before


def test_a_client_is_closed_while_other_threads_open_and_leave_its_connections() -> None:
    """Each thread goes on until it is told that the client was closed; no other error comes out."""
    failures: list[BaseException] = []
    with broker(well) as (address, _):
        client = WireClient(
            actor="many", lane="victim", addresses=dict.fromkeys(range(8), address), clock=RunClock(),
            recorder=NullRecorder(),
        )  # fmt: skip
        begun = threading.Barrier(9)

        def churn(node: int) -> None:
            begun.wait(5)
            try:
                while True:
                    client.call(node, END, 3)
                    client.leave(node)
            except ConnectionClosed:
                pass
            except BaseException as failure:  # noqa: BLE001  it is what the test looks for
                failures.append(failure)

        threads = [threading.Thread(target=churn, args=(node,)) for node in range(8)]
        for thread in threads:
            thread.start()
        begun.wait(5)
        client.close()
        for thread in threads:
            thread.join(5)
        assert not any(thread.is_alive() for thread in threads)
    assert failures == []
