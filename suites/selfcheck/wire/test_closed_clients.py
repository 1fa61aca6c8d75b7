"""Clients and connections that are closed: what was on them fails and is recorded; what opens late is closed too."""

import threading

import pytest

from harness.base.clock import RunClock
from harness.evidence.recorder import NullRecorder
from harness.wire.connection import Connection
from harness.wire.wire_client import WireClient
from harness.wire.wire_errors import ConnectionClosed
from suites.selfcheck.wire.small_broker import END, Recording, broker, client_of, hang_up, never, talking_to, well


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
                pending.wait()
        assert client.call(1, END).result.error == 0
    exchanges = recording.of("EndTxn")
    assert [exchange.failure for exchange in exchanges] == ["closed", "closed", None]
    assert len({exchange.number for exchange in exchanges}) == 3


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
