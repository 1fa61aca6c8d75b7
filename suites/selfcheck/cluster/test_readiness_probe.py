"""Questions about readiness: a broker's answers are understood, and everything else is "not yet"."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
from confluent_kafka import Producer

from harness.base.addresses import Address
from harness.cluster.nodes import readiness_probe

NO_LISTENER = Address("127.0.0.9", 9)


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """A socket that takes connections and does not answer."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)


def address_of(server: socket.socket) -> Address:
    """Where it listens."""
    return Address(*server.getsockname())


def test_a_kafka_is_understood() -> None:
    mock = Producer({"test.mock.num.brokers": 3, "bootstrap.servers": "mock", "log_level": 0})
    expected = {node: Address(one.host, one.port) for node, one in mock.list_topics(timeout=10).brokers.items()}
    assert readiness_probe.brokers(expected[1]) == expected
    coordinator = readiness_probe.coordinator(expected[1], "who")
    assert coordinator is not None
    assert readiness_probe.transaction_possible(expected[coordinator], "who")


def test_an_address_without_listener_is_not_ready() -> None:
    assert readiness_probe.brokers(NO_LISTENER) is None
    assert readiness_probe.coordinator(NO_LISTENER, "who") is None
    assert not readiness_probe.transaction_possible(NO_LISTENER, "who")
    assert not readiness_probe.quorum_leads(NO_LISTENER)


def test_a_server_that_does_not_answer_in_time_is_not_ready(
    server: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness_probe, "ANSWER_SECONDS", 0.05)
    assert readiness_probe.brokers(address_of(server)) is None


@pytest.mark.parametrize(
    "answer", [b"", b"SSH-2.0-OpenSSH_9.2\r\n", bytes(64), b"\0\0\0\x08\0\0\0\x01\0\0\0\0"], ids=len
)
def test_a_server_that_is_no_kafka_is_not_ready(server: socket.socket, answer: bytes) -> None:
    def serve() -> None:
        with suppress(OSError):
            while True:
                caller, _ = server.accept()
                caller.sendall(answer)
                caller.close()

    serving = threading.Thread(target=serve)
    serving.start()
    assert not readiness_probe.brokers(address_of(server))
    server.shutdown(socket.SHUT_RDWR)
    serving.join()
