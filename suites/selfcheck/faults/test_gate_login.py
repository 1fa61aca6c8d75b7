"""The gate before brokers that ask for TLS and SASL: clients speak plaintext to it, and never before it is let in."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from harness.base import wait
from harness.faults.frame_gate import GateFailed
from harness.faults.gate.gate import Gate
from harness.wire.security.client_properties import read_client_properties
from suites.selfcheck.fixtures.certificates import Issued, authority, issue, written
from suites.selfcheck.fixtures.gate_pair import PATIENCE, RawClient, end, running_gate
from suites.selfcheck.fixtures.sasl_broker import PASSWORD, USER, SaslBroker, sasl_broker

LOGIN = ["ApiVersions", "SaslHandshake", "SaslAuthenticate"]
LIFETIME_MS = 40
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


def login(password: str = PASSWORD) -> str:
    """The lines of a client's file for SASL/PLAIN."""
    jaas = f'sasl.jaas.config={MODULE} required username="{USER}" password="{password}";'
    return f"sasl.mechanism=PLAIN\n{jaas}\n"


@contextmanager
def gate_before(broker: SaslBroker, properties: Path, *, name: str = "") -> Iterator[tuple[Gate, RawClient]]:
    """A gate that connects as the file says, and one client of it."""
    with running_gate() as (gate, _):
        gate.gate_process.secure(read_client_properties(properties))
        to = gate.gate_process.listen("lane-victim-1", "127.0.0.1", broker.address, name)
        with socket.create_connection((to.host, to.port), PATIENCE) as connected:
            yield gate, RawClient(connected)


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A client's file for SASL without TLS."""
    return written(tmp_path, "plain.properties", f"security.protocol=SASL_PLAINTEXT\n{login()}")


@pytest.fixture(scope="module")
def ca() -> Issued:
    return authority("Gate test CA")


def serving(folder: Path, issued: Issued) -> ssl.SSLContext:
    """A server's context with this certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(written(folder, "server.pem", issued.key_pem() + issued.pem))
    return context


def trusting(folder: Path, ca: Issued, *lines: str) -> Path:
    """A client's file for TLS that trusts the authority."""
    written(folder, "ca.pem", ca.pem)
    return written(
        folder, "tls.properties", "".join((*lines, "ssl.truststore.type=PEM\nssl.truststore.location=ca.pem\n"))
    )


def only_error(gate: Gate) -> str:
    """What the gate tells that went wrong; it knows the broker's reason a moment after the connection has ended."""
    wait.until(gate.errors, what="the gate's error", timeout_seconds=PATIENCE)
    (error,) = gate.errors()
    return error


def test_a_client_speaks_plaintext_and_the_gate_tls(tmp_path: Path, ca: Issued) -> None:
    own = serving(tmp_path, issue(ca, "broker", ["127.0.0.1"]))
    with (
        sasl_broker(tls=own) as broker,
        gate_before(broker, trusting(tmp_path, ca, "security.protocol=SSL\n")) as (gate, client),
    ):
        client.ask(1, end(), 3)
        assert client.answer() == (1, 0)
        assert broker.apis == ["EndTxn"]
        assert gate.errors() == ()


def test_the_name_that_the_owner_gave_is_verified(tmp_path: Path, ca: Issued) -> None:
    own = serving(tmp_path, issue(ca, "broker", ["kafka.example.org"]))
    client_file = trusting(tmp_path, ca, "security.protocol=SSL\n")
    with sasl_broker(tls=own) as broker:
        with gate_before(broker, client_file, name="kafka.example.org") as (gate, client):
            client.ask(1, end(), 3)
            assert client.answer() == (1, 0)
            assert gate.errors() == ()
        with gate_before(broker, client_file) as (gate, client):
            assert client.answer() is None
            error = only_error(gate)
            assert "is not for '127.0.0.1'" in error


def test_sasl_over_tls(tmp_path: Path, ca: Issued) -> None:
    own = serving(tmp_path, issue(ca, "broker", ["127.0.0.1"]))
    client_file = trusting(tmp_path, ca, "security.protocol=SASL_SSL\n", login())
    with sasl_broker(tls=own) as broker, gate_before(broker, client_file) as (gate, client):
        client.ask(1, end(), 3)
        assert client.answer() == (1, 0)
        assert broker.apis == [*LOGIN, "EndTxn"]
        assert gate.errors() == ()


def test_no_request_is_forwarded_before_the_login_is_over(plain: Path) -> None:
    with sasl_broker() as broker:
        broker.lets_in.clear()
        with gate_before(broker, plain) as (gate, client):
            for correlation in (1, 2, 3):
                client.ask(correlation, end(), 3)
            wait.until(lambda: len(broker.asked) == 3, what="the login", timeout_seconds=PATIENCE)
            assert client.silent()
            assert broker.apis == LOGIN
            broker.lets_in.set()
            assert [client.answer() for _ in range(3)] == [(1, 0), (2, 0), (3, 0)]
            assert gate.errors() == ()


def test_nothing_comes_between_handshake_and_authentication_when_sessions_are_renewed(plain: Path) -> None:
    with sasl_broker(lifetime_ms=LIFETIME_MS) as broker, gate_before(broker, plain) as (gate, client):
        answered = []
        for first in range(1, 41, 10):
            for correlation in range(first, first + 10):
                client.ask(correlation, end(), 3)
            answered.append(client.answer())
            wait.pause(LIFETIME_MS / 1000)  # the other answers are on their way, or unread
        answered += [client.answer() for _ in range(36)]
        assert answered == [(correlation, 0) for correlation in range(1, 41)]
        followed = [then for api, then in pairwise(broker.apis) if api == "SaslHandshake"]
        assert len(followed) > 1
        assert set(followed) == {"SaslAuthenticate"}
        assert broker.apis.count("ApiVersions") == 1
        assert [number for api, number in broker.asked if api == "EndTxn"] == list(range(1, 41))
        assert gate.errors() == ()


def test_a_session_without_an_end_is_never_renewed(plain: Path) -> None:
    with sasl_broker() as broker, gate_before(broker, plain) as (_, client):
        for correlation in range(5):
            client.ask(correlation, end(), 3)
            assert client.answer() == (correlation, 0)
        assert broker.apis == [*LOGIN, *["EndTxn"] * 5]


def test_a_renewal_that_is_refused_ends_the_connection_and_is_an_error(plain: Path) -> None:
    with sasl_broker(lifetime_ms=LIFETIME_MS, logins=1) as broker:
        broker.lets_in.clear()
        with gate_before(broker, plain) as (gate, client):
            client.ask(1, end(), 3)
            broker.lets_in.set()  # so that it goes on with the login's answer, while the session is new
            wait.until(lambda: len(broker.asked) >= 4, what="the first request", timeout_seconds=PATIENCE)
            wait.pause(2 * LIFETIME_MS / 1000)
            client.ask(2, end(), 3)
            assert [client.answer(), client.answer()] == [(1, 0), None]
            error = only_error(gate)
            assert "refused alice by PLAIN" in error


def test_a_wrong_password_is_one_sentence_without_it_and_no_secret_is_on_the_command_line(tmp_path: Path) -> None:
    wrong = written(tmp_path, "wrong.properties", f"security.protocol=SASL_PLAINTEXT\n{login('shibboleth')}")
    with sasl_broker() as broker, gate_before(broker, wrong) as (gate, client):
        client.ask(1, end(), 3)
        assert client.answer() is None
        error = only_error(gate)
        assert "refused alice by PLAIN" in error
        assert "EndTxn" not in broker.apis
        told = f"{error} {psutil.Process(gate.process.pid).cmdline()} {psutil.Process(gate.process.pid).environ()}"
        assert "shibboleth" not in told


def test_a_broker_that_is_away_is_no_error(plain: Path) -> None:
    with sasl_broker() as broker:
        broker.listener.shutdown(socket.SHUT_RDWR)
        with gate_before(broker, plain) as (gate, client):
            assert client.answer() is None
            assert gate.errors() == ()


def test_a_file_that_cannot_be_read_is_refused_with_its_reason(plain: Path) -> None:
    with running_gate() as (gate, _):
        security = read_client_properties(plain)
        plain.unlink()
        with pytest.raises(GateFailed, match="cannot be read"):
            gate.gate_process.secure(security)
