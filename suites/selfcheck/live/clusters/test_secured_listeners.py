"""Clients on real listeners with TLS and SASL: what goes through, for how long, and what is said when it does not."""

import json
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from harness.base import wait
from harness.base.addresses import Address
from harness.base.clock import RunClock
from harness.base.user_error import ExitCode
from harness.clients.client import Adapter, ClientOptions
from harness.clients.librdkafka.full_log_reader import read_committed
from harness.clients.wire.wire_adapter import ADAPTERS
from harness.cluster.broker_finding import find_brokers
from harness.cluster.target import External
from harness.evidence.history.delivered_record import DeliveredRecord
from harness.evidence.history.operation import Value
from harness.evidence.recorder import NullRecorder
from harness.kafka.leader_client import LeaderClient
from harness.wire.connection import Connection
from harness.wire.requests.cluster.create_topic import CreateTopic
from harness.wire.requests.cluster.metadata import Metadata
from harness.wire.security import authentication
from harness.wire.security.bearer_token import unsecured_token
from harness.wire.security.client_properties import read_client_properties
from harness.wire.security.security import Security, UnsecuredLogin
from harness.wire.wire_client import WireClient
from harness.wire.wire_errors import ConnectionClosed
from suites.selfcheck.fixtures.command import fencepost
from suites.selfcheck.fixtures.secured_cluster import (
    MODULES,
    OWN_PEM,
    OWN_PKCS12,
    PASSWORD,
    SASL_SSL,
    STORE_PASSWORD,
    TRUSTING,
    TRUSTING_PKCS12,
    SecuredCluster,
    bearer,
    login,
    protocol,
    secured_cluster,
)
from suites.selfcheck.fixtures.user_errors import raises_user_error

pytestmark = pytest.mark.live

BROKER = 1
EARLY = 0.6
"""The part of a session of two seconds after which it is renewed here: what is left is enough on a busy machine, and a
broker takes no renewal within a second of the last (``KafkaChannel.MIN_REAUTH_INTERVAL_ONE_SECOND_NANOS``)."""


@pytest.fixture(autouse=True)
def _early_renewals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authentication, "RENEWED_AFTER", EARLY)


def outlived(lifetimes: int, connection: Connection) -> bool:
    """Whether it has authenticated so often that so many lifetimes have passed since it first did."""
    return (connection.authentications - 1) * EARLY >= lifetimes


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredCluster]:
    """One broker for all tests."""
    with secured_cluster(tmp_path_factory.mktemp("secured")) as cluster:
        yield cluster


WAYS: Mapping[str, tuple[str, str]] = {
    "tls": ("TLS", protocol("SSL") + TRUSTING),
    "tls-pkcs12": ("TLS", protocol("SSL") + TRUSTING_PKCS12),
    "other-name-unverified": ("OTHERNAME", protocol("SSL") + TRUSTING + "ssl.endpoint.identification.algorithm=\n"),
    "mtls-pem": ("MUTUAL", protocol("SSL") + TRUSTING + OWN_PEM),
    "mtls-pkcs12": ("MUTUAL", protocol("SSL") + TRUSTING_PKCS12 + OWN_PKCS12),
    "tls-1.2": ("MUTUAL", protocol("SSL") + TRUSTING + OWN_PEM + "ssl.enabled.protocols=TLSv1.2\n"),
    "plain": ("SASL", SASL_SSL + login("PLAIN")),
    "scram-256": ("SASL", SASL_SSL + login("SCRAM-SHA-256")),
    "scram-512": ("SASL", SASL_SSL + login("SCRAM-SHA-512")),
    "oauthbearer": ("SASL", SASL_SSL + bearer()),
    "short-scram": ("SHORT", protocol("SASL_PLAINTEXT") + login("SCRAM-SHA-512")),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_client_goes_through(secured: SecuredCluster, way: str) -> None:
    listener, lines = WAYS[way]
    goes_through(secured, listener, read_client_properties(secured.client(way, lines)), way)


def goes_through(secured: SecuredCluster, listener: str, security: Security, topic: str) -> None:
    """Brokers are learned; a transaction of each protocol is committed, and librdkafka reads both."""
    addresses = secured.addresses(listener)
    assert find_brokers(External(tuple(addresses.values())), security).addresses == addresses
    client = wire_client(addresses, security)
    assert not client.call(BROKER, CreateTopic(name=topic)).result.error
    client.close()
    for number, adapter in enumerate(ADAPTERS.values()):
        commit_one(adapter, addresses, security, topic, number)
    assert read_by_librdkafka(addresses, security, topic, 4) == [
        str(Value(txn=txn, ordinal=0, size=1)) for txn in (0, 1)
    ]


def wire_client(addresses: Mapping[int, Address], security: Security) -> WireClient:
    return WireClient(
        actor="secured",
        lane="observer",
        addresses=addresses,
        clock=RunClock(),
        recorder=NullRecorder(),
        security=security,
    )


def commit_one(adapter: Adapter, addresses: Mapping[int, Address], security: Security, topic: str, number: int) -> None:
    client = adapter.open(
        ClientOptions(
            actor=f"secured-{number}",
            lane="observer",
            bootstrap={node: str(address) for node, address in addresses.items()},
            transactional_id=f"{topic}-{number}",
            request_ms=10_000,
            security=security,
        )
    )
    results = [client.init(), client.begin(), client.produce(topic, 0, Value(txn=number, ordinal=0, size=1))]
    results.append(client.commit())
    client.close()
    assert [result.reason for result in results if not result.done] == []


def read_by_librdkafka(addresses: Mapping[int, Address], security: Security, topic: str, end: int) -> list[str]:
    delivered: list[DeliveredRecord] = []
    bootstrap = ",".join(map(str, addresses.values()))
    ends = read_committed(bootstrap, {(topic, 0): end}, timeout_seconds=10, deliver=delivered.extend, security=security)
    assert ends == {(topic, 0): end}
    return [record.value for record in delivered]


def test_a_token_comes_from_an_endpoint_by_client_credentials(secured: SecuredCluster) -> None:
    with token_endpoint() as (url, asked):
        module = f"{MODULES}.oauthbearer.OAuthBearerLoginModule"
        jaas = f'{module} required clientId="alice" clientSecret="{STORE_PASSWORD}" scope="kafka";'
        lines = f"sasl.mechanism=OAUTHBEARER\nsasl.jaas.config={jaas}\nsasl.oauthbearer.token.endpoint.url={url}\n"
        security = read_client_properties(secured.client("endpoint", SASL_SSL, lines))
        goes_through(secured, "SASL", security, "endpoint")
    assert asked == ["grant_type=client_credentials&scope=kafka"]  # kept for all connections of all clients


def test_a_session_is_renewed_on_the_open_connection_with_requests_in_flight(secured: SecuredCluster) -> None:
    """KIP-368: the broker ends a connection at the first request after its session, unless it is renewed before."""
    security = read_client_properties(secured.client("renewed", protocol("SASL_PLAINTEXT"), login("SCRAM-SHA-256")))
    connections = used_until(secured, security, partial(outlived, 3))
    assert len(connections) == 1


@pytest.mark.parametrize("mechanism", ["PLAIN", "OAUTHBEARER"])
def test_every_mechanism_is_renewed(secured: SecuredCluster, mechanism: str) -> None:
    lines = bearer() if mechanism == "OAUTHBEARER" else login(mechanism)
    security = read_client_properties(secured.client(f"renewed-{mechanism}", protocol("SASL_PLAINTEXT"), lines))
    assert len(used_until(secured, security, partial(outlived, 1))) == 1


def test_without_renewal_the_broker_closes_the_connection(
    secured: SecuredCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control of the tests above."""
    monkeypatch.setattr(authentication, "RENEWED_AFTER", 1_000)
    security = read_client_properties(secured.client("kept", protocol("SASL_PLAINTEXT"), login("SCRAM-SHA-256")))
    with pytest.raises(ConnectionClosed):
        used_until(secured, security, partial(outlived, 1))


def used_until(secured: SecuredCluster, security: Security, enough: Callable[[Connection], bool]) -> set[Connection]:
    """Keep ten requests in flight, each of which must be answered, until ``enough``; every connection that was used."""
    addresses = secured.addresses("SHORT")
    client = wire_client(addresses, security)
    used: set[Connection] = set()

    def again() -> bool:
        in_flight = [client.send(BROKER, Metadata(topics=()), 1) for _ in range(10)]
        used.add(client._connections[BROKER])
        assert all(pending.wait(10).result.brokers.keys() == addresses.keys() for pending in in_flight)
        return any(map(enough, used))

    try:
        wait.until(again, what="renewals", timeout_seconds=60, interval_seconds=0.01)
    finally:
        client.close()
    return used


def test_readers_of_the_judge_connect_likewise(secured: SecuredCluster) -> None:
    security = read_client_properties(secured.client("leader", SASL_SSL, login("SCRAM-SHA-512")))
    leader_client = LeaderClient.over(secured.addresses("SASL"), RunClock(), security=security)
    assert leader_client.coordinator("a-transactional-id") == BROKER
    leader_client.close()


def test_the_name_of_the_real_host_is_verified_and_no_other(secured: SecuredCluster) -> None:
    """As through a proxy: the address that is connected to is not the one that the certificate is for."""
    security = read_client_properties(secured.client("named", protocol("SSL"), TRUSTING))
    client = wire_client(secured.addresses("OTHERNAME"), replace(security, names={BROKER: "kafka.example.org"}))
    assert client.call(BROKER, Metadata(topics=())).result.brokers
    client.close()
    client = wire_client(secured.addresses("TLS"), replace(security, names={BROKER: "kafka.example.org"}))
    with pytest.raises(ConnectionClosed, match=r"is not for 'kafka\.example\.org'"):
        client.call(BROKER, Metadata(topics=()))
    client.close()


REFUSALS: Mapping[str, tuple[str, str, str]] = {
    "wrong-password-plain": (
        "SASL",
        SASL_SSL + login("PLAIN", "wrong-pw-77"),
        r"refused alice by PLAIN \(Authentication failed: .*\): see sasl.jaas.config in ",
    ),
    "wrong-password-scram": (
        "SASL",
        SASL_SSL + login("SCRAM-SHA-256", "wrong-pw-77"),
        r"refused alice by SCRAM-SHA-256 \(Authentication failed .*\): see sasl.jaas.config in ",
    ),
    "unknown-user": ("SASL", SASL_SSL + login("SCRAM-SHA-512", user="nobody"), "refused nobody by SCRAM-SHA-512"),
    "expired-token": (
        "SASL",
        SASL_SSL + bearer('unsecuredLoginStringClaim_sub="alice" unsecuredLoginLifetimeSeconds="-3600"'),
        "refused the token by OAUTHBEARER .*: see sasl.jaas.config in ",
    ),
    "unknown-ca": (
        "TLS",
        protocol("SSL") + TRUSTING.replace("ca.pem", "other-ca.pem"),
        "issued by none that we trust: see ssl.truststore.location in ",
    ),
    "expired": ("EXPIRED", protocol("SSL") + TRUSTING, "the certificate of .* has expired"),
    "other-name": (
        "OTHERNAME",
        protocol("SSL") + TRUSTING,
        "is not for '127.*: use the name .*, or see ssl.endpoint.identification.algorithm in ",
    ),
    "no-certificate": (
        "MUTUAL",
        protocol("SSL") + TRUSTING,
        "refused our certificate.*: see ssl.keystore.location in ",
    ),
    "plaintext-to-tls": ("TLS", protocol("PLAINTEXT"), "speaks TLS, and we spoke PLAINTEXT: see security.protocol in "),
    "sasl-plaintext-to-tls": (
        "SASL",
        protocol("SASL_PLAINTEXT") + login("PLAIN"),
        "speaks TLS, and we spoke SASL_PLAINTEXT: see security.protocol in ",
    ),
    "tls-to-plaintext": (
        "SHORT",
        protocol("SSL") + TRUSTING,
        "closed the connection during TLS, as a listener without TLS does: see security.protocol in ",
    ),
    "plaintext-to-sasl": (
        "SHORT",
        protocol("PLAINTEXT"),
        "that its listener speaks PLAINTEXT: see security.protocol in ",
    ),
    "sasl-to-none": ("TLS", SASL_SSL + login("PLAIN"), "does not speak SASL.*: see security.protocol in "),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_what_fails_is_told_in_one_sentence_without_secrets(secured: SecuredCluster, case: str) -> None:
    listener, lines, sentence = REFUSALS[case]
    security = read_client_properties(secured.client(case, lines))
    with raises_user_error(ExitCode.TARGET_UNREACHABLE, sentence) as error:
        find_brokers(External(tuple(secured.addresses(listener).values())), security)
    assert "wrong-pw-77" not in str(error.value)
    assert PASSWORD not in str(error.value)


def test_the_command_ends_with_the_sentence_alone(secured: SecuredCluster, tmp_path: Path) -> None:
    properties = secured.client("command", SASL_SSL, login("PLAIN", "wrong-pw-77"))
    words = ("--client-properties", str(properties), "--report-dir", str(tmp_path / "r"))
    ended = fencepost("qualify", secured.target("SASL"), *words)
    assert ended.returncode == ExitCode.TARGET_UNREACHABLE
    assert ended.stderr.count("refused alice by PLAIN") == 1
    assert "Traceback" not in ended.stderr
    assert "wrong-pw-77" not in ended.stdout + ended.stderr


@contextmanager
def token_endpoint() -> Iterator[tuple[str, list[str]]]:
    """An endpoint that gives unsecured tokens to a client with the right secret, and what it was asked."""
    asked: list[str] = []

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            known = self.headers["Authorization"] == "Basic " + b64encode(f"alice:{STORE_PASSWORD}".encode()).decode()
            claims = (("sub", '"alice"'),)
            token = unsecured_token(UnsecuredLogin(claims=claims, principal="alice"), time.time()).token.reveal()
            self.send_response(200 if known else 401)
            self.end_headers()
            self.wfile.write(json.dumps({"access_token": token, "expires_in": 3600}).encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/token", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
