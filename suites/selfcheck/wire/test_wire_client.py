"""The client against a broker of a few lines: answers, silence, an address without listener, and what is recorded."""

import socket
import struct
import threading

import pytest

from harness.base import wait
from harness.base.addresses import Address
from harness.wire.requests.groups.find_coordinator import GROUP, FindCoordinator
from harness.wire.requests.transactions.list_transactions import ListTransactions
from harness.wire.wire_errors import CannotBuild, ConnectionClosed, NoAnswer, NotOffered, UnreadableAnswer
from suites.selfcheck.wire.small_broker import END, END_TXN, GOOD, Link, Recording, client_of, ended, talking_to, well


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
        wait.until(lambda: held, what="the request", timeout_seconds=10)
        held[0][0].answer(held[0][1], GOOD)
        answer = pending.wait()
        assert pending.done()
        assert pending.wait(0) is answer
    assert recording.of("EndTxn") == [answer.exchange]


def test_requests_are_pipelined_and_answers_find_their_own_in_any_order() -> None:
    held: list[int] = []

    def reversed_answers(link: Link, correlation: int) -> None:
        held.append(correlation)
        if len(held) == 3:
            for nth, waiting in enumerate(reversed(held)):
                link.answer(waiting, ended(47 + nth))

    with talking_to(reversed_answers) as (client, _, _):
        pending = [client.send(1, END, 3) for _ in range(3)]
        assert [each.wait().result.error for each in pending] == [49, 48, 47]


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
    recording = Recording()
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = Address(*nobody.getsockname())
        client = client_of(address, recording)
        with pytest.raises(ConnectionClosed, match=f"no connection: {address} cannot be reached"):
            client.offered(1)
        client.close()
    assert [exchange.failure is not None for exchange in recording.exchanges] == [True]
