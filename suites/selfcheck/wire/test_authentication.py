"""SASL on a connection against a broker of a few lines: what comes before, between and after, and what is refused."""

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import pytest

from harness.base.addresses import Address
from harness.base.clock import RunClock
from harness.base.kafka_error import KafkaError
from harness.base.wait import until
from harness.evidence.recorder import NullRecorder
from harness.wire.api_results import ProducerIdAndEpoch
from harness.wire.offered import Offered
from harness.wire.requests.transactions.end_txn import EndTxn
from harness.wire.security.security import PasswordLogin, Secret, Security, TlsSettings
from harness.wire.wire_client import PendingResponse, WireClient
from harness.wire.wire_errors import NoAnswer, SecurityRefused
from suites.selfcheck.fixtures.certificates import Issued, authority, issue, written

HANDSHAKE, API_VERSIONS, END_TXN, AUTHENTICATE = 17, 18, 26, 36
NAMES = {HANDSHAKE: "SaslHandshake", API_VERSIONS: "ApiVersions", END_TXN: "EndTxn", AUTHENTICATE: "SaslAuthenticate"}
BEGIN = ["ApiVersions", "SaslHandshake", "SaslAuthenticate"]
AGAIN = BEGIN[1:]
END = EndTxn(transactional_id="who", producer_id=4711, producer_epoch=0, committed=True)
GOOD = b"\0" + struct.pack(">ih", 0, 0) + b"\0"
OFFERED = Offered(apis={"EndTxn": (3, 3)})
PLAIN = PasswordLogin(mechanism="PLAIN", username="alice", password=Secret("pw-1907"))
SASL = Security(sasl=PLAIN, file="client.properties")
FOREVER, AT_ONCE = 0, 1


def api_versions(*ranges: tuple[int, int, int]) -> bytes:
    """An answer of version 0."""
    return struct.pack(">hi", 0, len(ranges)) + b"".join(struct.pack(">hhh", *each) for each in ranges)


def shaken(error: int, *mechanisms: bytes) -> bytes:
    """SaslHandshake v1."""
    named = b"".join(struct.pack(">h", len(name)) + name for name in mechanisms)
    return struct.pack(">hi", error, len(mechanisms)) + named


def authenticated(error: int, lifetime_ms: int, message: bytes = b"") -> bytes:
    """SaslAuthenticate v2: a header's tag count, error, message, no bytes, lifetime, a tag count."""
    told = bytes([len(message) + 1]) + message if message else b"\0"
    return b"\0" + struct.pack(">h", error) + told + b"\1" + struct.pack(">q", lifetime_ms) + b"\0"


@dataclass(frozen=True, slots=True)
class HastyClock(RunClock):
    """Ten milliseconds go by whenever it is read."""

    readings: Iterator[int] = field(default_factory=count)

    def now(self) -> float:
        return 10.0 * next(self.readings)


@dataclass
class ScriptedBroker:
    """What it answers, and what it was asked in which order.

    :param withheld: Answers to EndTxn that are kept until SaslHandshake comes again.
    """

    lifetime_ms: int = FOREVER
    handshake: bytes = shaken(0, b"PLAIN")
    refusal: bytes = b""
    versions: bytes = api_versions((HANDSHAKE, 0, 1), (AUTHENTICATE, 0, 2))
    context: ssl.SSLContext | None = None
    asked: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    withheld: int = 0
    open: threading.Event = field(default_factory=threading.Event)
    late: list[tuple[int, bytes]] = field(default_factory=list)

    def serve(self, connected: socket.socket) -> None:
        self.open.wait(10)
        with suppress(OSError, struct.error), connected, self.secured(connected) as peer:
            while True:
                size = struct.unpack(">i", exactly(peer, 4))[0]
                frame = exactly(peer, size)
                for correlation, body in self.answers(frame):
                    peer.sendall(struct.pack(">ii", 4 + len(body), correlation) + body)

    def secured(self, connected: socket.socket) -> socket.socket:
        return self.context.wrap_socket(connected, server_side=True) if self.context else connected

    def answers(self, frame: bytes) -> Sequence[tuple[int, bytes]]:
        key, _, correlation = struct.unpack_from(">hhi", frame)
        self.asked.append(NAMES[key])
        self.bodies.append(frame)
        if key == END_TXN and self.withheld:
            self.withheld -= 1
            self.late.append((correlation, GOOD))
            return ()
        body = {
            API_VERSIONS: self.versions,
            HANDSHAKE: self.handshake,
            AUTHENTICATE: self.refusal or authenticated(0, self.lifetime_ms),
            END_TXN: GOOD,
        }[key]
        late, self.late = self.late, []
        return [*late, (correlation, body)]


def exactly(peer: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        if not (chunk := peer.recv(size - len(data))):
            raise ConnectionResetError
        data += chunk
    return data


@contextmanager
def client_of(broker: ScriptedBroker, security: Security = SASL, *, opened: bool = True) -> Iterator[WireClient]:
    """A client of the broker, which answers nothing until it is ``open``."""
    if opened:
        broker.open.set()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, args=(listener, broker.serve), daemon=True).start()
        client = WireClient(
            actor="victim",
            lane="victim",
            addresses={1: Address(*listener.getsockname())},
            clock=HastyClock(),
            recorder=NullRecorder(),
            offered={1: OFFERED},
            security=security,
        )
        yield client
        client.close()
        broker.open.set()
        listener.shutdown(socket.SHUT_RDWR)


def accept(listener: socket.socket, serve: Callable[[socket.socket], None]) -> None:
    with suppress(OSError):
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


def sent_before_login(client: WireClient, broker: ScriptedBroker) -> PendingResponse[ProducerIdAndEpoch]:
    """A first request that certainly waits for the login; sent after it, it would have the session renewed first."""
    pending = client.send(1, END, 3)
    broker.open.set()
    return pending


def test_requests_follow_the_login_in_their_order() -> None:
    broker = ScriptedBroker()
    with client_of(broker) as client:
        pending = [client.send(1, END, 3) for _ in range(3)]
        assert [each.wait().result.error for each in pending] == [0, 0, 0]
    assert broker.asked == [*BEGIN, "EndTxn", "EndTxn", "EndTxn"]
    assert broker.bodies[2].endswith(b"\0alice\0pw-1907\0")


def test_a_request_waits_for_a_broker_that_says_nothing_yet_as_without_sasl() -> None:
    """What is held on its way is held with the login, and arrives after it; sending does not block."""
    broker = ScriptedBroker()
    with client_of(broker, opened=False) as client:
        pending = client.send(1, END, 3)
        with pytest.raises(NoAnswer):
            pending.wait(0.05)
        broker.open.set()
        assert pending.wait().result.error == 0


def test_a_session_is_renewed_before_the_next_request() -> None:
    broker = ScriptedBroker(lifetime_ms=AT_ONCE)
    with client_of(broker, opened=False) as client:
        sent_before_login(client, broker).wait()
        assert all(client.call(1, END, 3).result.error == 0 for _ in range(2))
    first, *rest = "|".join(broker.asked).split("EndTxn")
    assert first == "|".join([*BEGIN, ""])
    assert rest == ["|" + "|".join([*AGAIN, ""])] * 2 + [""]


def test_nothing_is_written_within_a_renewal_and_earlier_answers_come_first() -> None:
    broker = ScriptedBroker(lifetime_ms=AT_ONCE, withheld=1)
    with client_of(broker, opened=False) as client:
        early = sent_before_login(client, broker)
        until(lambda: broker.asked == [*BEGIN, "EndTxn"], what="the first request", timeout_seconds=10)
        with pytest.raises(NoAnswer):  # it has arrived, and its answer is withheld
            early.wait(0.01)
        late = [client.send(1, END, 3) for _ in range(4)]
        assert [each.wait().result.error for each in (early, *late)] == [0] * 5
    assert broker.asked[4:6] == AGAIN
    assert broker.asked.count("EndTxn") == 5
    heard = "".join("E" if name == "EndTxn" else name[4] for name in broker.asked[4:])
    assert "HE" not in heard, "a request between SaslHandshake and SaslAuthenticate"


def test_an_end_without_lifetime_is_never_renewed() -> None:
    broker = ScriptedBroker(lifetime_ms=FOREVER)
    with client_of(broker) as client:
        assert all(client.call(1, END, 3).result.error == 0 for _ in range(3))
    assert broker.asked == [*BEGIN, *["EndTxn"] * 3]


REFUSED = {
    "credentials": (
        ScriptedBroker(refusal=authenticated(KafkaError.SASL_AUTHENTICATION_FAILED, 0, b"wrong: pw-1907")),
        r"refused alice by PLAIN \(wrong: …\): see sasl.jaas.config in client.properties",
    ),
    "mechanism": (
        ScriptedBroker(handshake=shaken(KafkaError.UNSUPPORTED_SASL_MECHANISM, b"GSSAPI", b"SCRAM-SHA-256")),
        "does not take this mechanism but GSSAPI, SCRAM-SHA-256: see sasl.mechanism in client.properties",
    ),
    "no-sasl": (
        ScriptedBroker(handshake=shaken(KafkaError.ILLEGAL_SASL_STATE)),
        "does not speak SASL: see security.protocol in client.properties",
    ),
    "other-error": (
        ScriptedBroker(handshake=shaken(KafkaError.UNKNOWN_SERVER_ERROR)),
        "answered SaslHandshake with UNKNOWN",
    ),
    "too-old": (
        ScriptedBroker(versions=api_versions((HANDSHAKE, 0, 0))),
        "offers no SASL that we know: see security.prot",
    ),
    "garbage": (ScriptedBroker(handshake=b"\0"), "answered SASL with bytes that are none"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_is_told_to_every_request_in_one_sentence(case: str) -> None:
    broker, sentence = REFUSED[case]
    with client_of(broker) as client:
        pending = [client.send(1, END, 3) for _ in range(2)]
        for each in pending:
            with pytest.raises(SecurityRefused, match=sentence):
                each.wait()


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """An authority and the folder of what it issued."""

    ca: Issued
    folder: Path

    def server(self, *hosts: str, days: int = 1) -> ssl.SSLContext:
        issued = issue(self.ca, "broker", hosts, days=days)
        path = written(self.folder, f"{len(list(self.folder.iterdir()))}.pem", issued.key_pem() + issued.pem)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context


@pytest.fixture
def tls_files(tmp_path: Path) -> TlsFiles:
    return TlsFiles(authority("CA"), tmp_path)


def trusting(ca: Issued, *, verify_name: bool = True) -> Security:
    return Security(tls=TlsSettings(authorities=ca.pem, verify_name=verify_name), file="client.properties")


def test_tls_carries_large_frames_both_ways_and_the_login(tls_files: TlsFiles) -> None:
    broker = ScriptedBroker(context=tls_files.server("127.0.0.1"))
    security = Security(tls=trusting(tls_files.ca).tls, sasl=PLAIN)
    long = EndTxn(transactional_id="x" * 30_000, producer_id=1, producer_epoch=0, committed=True)
    with client_of(broker, security) as client:
        pending = [client.send(1, long, 3) for _ in range(50)]
        assert {each.wait().result.error for each in pending} == {0}
    assert broker.asked == [*BEGIN, *["EndTxn"] * 50]


def test_the_name_of_the_host_behind_a_proxy_is_verified(tls_files: TlsFiles) -> None:
    named = replace(trusting(tls_files.ca), names={1: "kafka.example.org"})
    broker = ScriptedBroker(context=tls_files.server("kafka.example.org"))
    with client_of(broker, named) as client:
        assert client.call(1, END, 3).result.error == 0
    with client_of(broker, trusting(tls_files.ca)) as client, pytest.raises(SecurityRefused, match="is not for '127"):
        client.call(1, END, 3)
    with client_of(broker, trusting(tls_files.ca, verify_name=False)) as client:
        assert client.call(1, END, 3).result.error == 0


def test_what_tls_refuses_is_told_with_its_key(tls_files: TlsFiles) -> None:
    cases = [
        (tls_files.server("127.0.0.1", days=-1), trusting(tls_files.ca), "has expired"),
        (tls_files.server("127.0.0.1"), trusting(authority("Other")), "see ssl.truststore.location in client.prop"),
    ]
    for context, security, sentence in cases:
        with (
            client_of(ScriptedBroker(context=context), security) as client,
            pytest.raises(SecurityRefused, match=sentence),
        ):
            client.call(1, END, 3)


def test_a_listener_without_tls_is_noticed(tls_files: TlsFiles) -> None:
    broker = ScriptedBroker()
    broker.serve = lambda connected: connected.close()  # type: ignore[method-assign]
    sentence = "closed the connection during TLS, as a listener without TLS does"
    with client_of(broker, trusting(tls_files.ca)) as client, pytest.raises(SecurityRefused, match=sentence):
        client.call(1, END, 3)


@pytest.mark.parametrize("security", [Security(file="client.properties"), SASL], ids=["plaintext", "sasl"])
def test_a_listener_with_tls_is_noticed(security: Security) -> None:
    """It answers with an alert, as the brokers of the live tests do."""
    broker = ScriptedBroker()
    broker.serve = answer_with_alert  # type: ignore[method-assign]
    sentence = f"speaks TLS, and we spoke {security.protocol}: see security.protocol in client.properties"
    with client_of(broker, security) as client, pytest.raises(SecurityRefused, match=sentence):
        client.call(1, END, 3)


def answer_with_alert(connected: socket.socket) -> None:
    with suppress(OSError), connected:
        connected.recv(1 << 16)
        connected.sendall(b"\x15\x03\x03\x00\x02\x02\x50")
