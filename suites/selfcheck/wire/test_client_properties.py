"""``--client-properties``: Kafka's format, what of it is refused and in which words, and that secrets do not show."""

import base64
import json
import ssl
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.base.user_error import ExitCode
from harness.clients.librdkafka.librdkafka_security import security_settings
from harness.spark.readers.kafka_security import kafka_options
from harness.wire.security.bearer_token import unsecured_token
from harness.wire.security.client_properties import read_client_properties
from harness.wire.security.jaas import parse_jaas
from harness.wire.security.java_properties import read_properties
from harness.wire.security.security import (
    PLAINTEXT,
    ClientCredentials,
    PasswordLogin,
    Secret,
    Security,
    TlsSettings,
    UnsecuredLogin,
)
from harness.wire.security.tls_context import tls_context
from suites.selfcheck.fixtures.certificates import authority, issue, trust_store, written
from suites.selfcheck.fixtures.secured_cluster import PASSWORD, SASL_SSL, bearer, login, protocol
from suites.selfcheck.fixtures.user_errors import raises_user_error

STORE_PASSWORD = "store-pw-42"
BEARER_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"


def read(folder: Path, *lines: str) -> Security:
    """What a file of these lines says."""
    return read_client_properties(written(folder, "client.properties", "".join(lines)))


@pytest.fixture
def stores(tmp_path: Path) -> Path:
    """A folder with an authority and a client's certificate, in every form."""
    ca = authority("CA")
    own = issue(ca, "client")
    written(tmp_path, "ca.pem", ca.pem)
    written(tmp_path, "trust.p12", trust_store(STORE_PASSWORD, ca))
    written(tmp_path, "own.p12", own.pkcs12(STORE_PASSWORD, ca))
    written(tmp_path, "own.pem", own.key_pem(STORE_PASSWORD) + own.pem + ca.pem)
    written(tmp_path, "bare.pem", own.key_pem() + own.pem)
    written(tmp_path, "old.jks", b"\xfe\xed\xfe\xed\0\0\0\2\0\0\0\0")
    return tmp_path


def test_a_password_with_every_special_character_arrives(stores: Path) -> None:
    security = read(stores, SASL_SSL, login("SCRAM-SHA-512"))
    assert security.protocol == "SASL_SSL"
    assert security.sasl == PasswordLogin(mechanism="SCRAM-SHA-512", username="alice", password=Secret(PASSWORD))
    spark = kafka_options(security)["kafka.sasl.jaas.config"]
    assert parse_jaas(spark).options == {"username": "alice", "password": PASSWORD}
    assert security_settings(security)["sasl.password"] == PASSWORD


def test_nothing_secret_is_shown(stores: Path) -> None:
    own = "ssl.keystore.location=own.pem\n" + f"ssl.key.password={STORE_PASSWORD}\n"
    security = read(stores, SASL_SSL, own, login("PLAIN"))
    for shown in (repr(security), str(security), f"{security.sasl}", repr(kafka_options(PLAINTEXT))):
        assert PASSWORD not in shown
        assert "PRIVATE KEY" not in shown
    assert security.redacted(f"user {PASSWORD} is wrong") == "user … is wrong"


@pytest.mark.parametrize(
    "lines",
    [
        "ssl.truststore.location=ca.pem\nssl.truststore.type=PEM\nssl.keystore.location=own.pem\nssl.key.password=PW\n",
        "ssl.truststore.location=trust.p12\nssl.truststore.password=PW\nssl.truststore.type=PKCS12\n"
        "ssl.keystore.location=own.p12\nssl.keystore.password=PW\nssl.keystore.type=pkcs12\n",
        "ssl.truststore.location = trust.p12\nssl.truststore.password : PW\nssl.keystore.location bare.pem\n",
    ],
)
def test_stores_of_every_kind_make_a_context(stores: Path, lines: str, monkeypatch: pytest.MonkeyPatch) -> None:
    security = read(stores, protocol("SSL"), lines.replace("PW", STORE_PASSWORD))
    assert security.tls is not None
    assert security.tls.authorities == (stores / "ca.pem").read_text()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary := stores / "temporary"))
    temporary.mkdir()
    context = tls_context(security.tls)
    assert list(temporary.iterdir()) == []
    assert (context.check_hostname, context.verify_mode) == (True, ssl.CERT_REQUIRED)
    assert len(context.get_ca_certs()) == 1
    assert "ENCRYPTED" not in str(security_settings(security)["ssl.key.pem"])
    assert kafka_options(security)["kafka.ssl.truststore.type"] == "PEM"


def test_stores_may_stand_in_the_file_itself(stores: Path) -> None:
    ca, bare = (stores / "ca.pem").read_text(), (stores / "bare.pem").read_text()
    key, _, chain = bare.partition("-----BEGIN CERTIFICATE-----")
    inline = {
        "ssl.truststore.certificates": ca,
        "ssl.keystore.certificate.chain": f"-----BEGIN CERTIFICATE-----{chain}",
        "ssl.keystore.key": key,
    }
    lines = "".join(f"{name}={value.strip()}".replace("\n", "\\n\\\n    ") + "\n" for name, value in inline.items())
    security = read(stores, protocol("SSL"), lines, "ssl.endpoint.identification.algorithm=\n")
    assert security.tls is not None
    assert (security.tls.authorities, security.tls.verify_name) == (ca, False)
    assert not tls_context(security.tls).check_hostname


def test_without_a_trust_store_the_system_decides(tmp_path: Path) -> None:
    security = read(tmp_path, protocol("SSL"), "bootstrap.servers=a:9092\nclient.id=x\n")
    assert security.tls == TlsSettings()


def test_one_protocol_of_tls_can_be_chosen(tmp_path: Path) -> None:
    security = read(tmp_path, protocol("SSL"), "ssl.enabled.protocols=TLSv1.2,TLSv1.1\nssl.protocol=TLSv1.2\n")
    assert security.tls is not None
    assert tls_context(security.tls).maximum_version is ssl.TLSVersion.TLSv1_2


def test_an_unsecured_token_has_the_claims_of_the_file(tmp_path: Path) -> None:
    options = (
        'unsecuredLoginStringClaim_user="bob" unsecuredLoginPrincipalClaimName="user" unsecuredLoginLifetimeSeconds=60'
        ' unsecuredLoginListClaim_scope="|a|b" unsecuredLoginNumberClaim_n="2" unsecuredLoginExtension_x="y"'
    )
    security = read(tmp_path, protocol("SASL_PLAINTEXT"), bearer(options))
    assert isinstance(security.sasl, UnsecuredLogin)
    token = unsecured_token(security.sasl, now=100.0009)
    assert (token.principal, token.expires) == ("bob", 160.0)
    header, claims, signature = token.token.reveal().split(".")
    assert (decoded(header), signature) == ({"alg": "none"}, "")
    assert decoded(claims) == {"exp": 160.0, "iat": 100.0, "user": "bob", "scope": ["a", "b"], "n": 2.0}
    again = parse_jaas(kafka_options(security)["kafka.sasl.jaas.config"]).options
    assert again["unsecuredLoginListClaim_scope"] == "|a|b"
    assert again["unsecuredLoginPrincipalClaimName"] == "user"


def decoded(part: str) -> object:
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def test_client_credentials_are_read_from_the_login_or_from_the_keys(tmp_path: Path) -> None:
    endpoint = "sasl.oauthbearer.token.endpoint.url=https://idp.example.org/token\n"
    given = bearer('clientId="me" clientSecret="s-77" scope="kafka" extension_logicalCluster="lkc-1"')
    security = read(tmp_path, protocol("SASL_PLAINTEXT"), given, endpoint)
    wanted = ClientCredentials(
        endpoint="https://idp.example.org/token",
        client_id="me",
        client_secret=Secret("s-77"),
        scope="kafka",
        extensions=(("logicalCluster", "lkc-1"),),
    )
    assert security.sasl == wanted
    keys = "sasl.oauthbearer.client.credentials.client.{}={}\n"
    lines = (f"sasl.mechanism=OAUTHBEARER\nsasl.jaas.config={BEARER_MODULE} required;\n", endpoint)
    (tmp_path / "client.properties").unlink()
    named = read(tmp_path, protocol("SASL_SSL"), *lines, keys.format("id", "me"), keys.format("secret", "s-77"))
    assert isinstance(named.sasl, ClientCredentials)
    assert named.sasl.client_secret == Secret("s-77")


REFUSED: Mapping[str, tuple[str, str]] = {
    "gssapi": (protocol("SASL_SSL") + "sasl.mechanism=GSSAPI\n", "sasl.mechanism in .* is 'GSSAPI', which is not supp"),
    "no-mechanism": (protocol("SASL_SSL"), "sasl.mechanism in .* is missing: without it Kafka takes GSSAPI"),
    "no-login": (protocol("SASL_SSL") + "sasl.mechanism=PLAIN\n", "sasl.jaas.config in .* is missing: user and pass"),
    "no-password": (
        protocol("SASL_SSL") + login("PLAIN").replace("password=", "pass="),
        "sasl.jaas.config in .* has no password",
    ),
    "open-quote": (protocol("SASL_SSL") + login("PLAIN").replace(";", '";'), "cannot be read: a quote is not closed"),
    "no-semicolon": (protocol("SASL_SSL") + login("PLAIN").replace('";', '"'), "its semicolon at the end is missing"),
    "other-module": (
        protocol("SASL_SSL") + login("PLAIN").replace("=PLAIN", "=SCRAM-SHA-256"),
        "names PlainLoginModule, and SCRAM-SHA-256 needs ScramLoginModule",
    ),
    "delegation-token": (
        protocol("SASL_SSL") + login("SCRAM-SHA-256").replace('";', '" tokenauth=true;'),
        "delegation tokens are not supported",
    ),
    "no-token": (protocol("SASL_SSL") + bearer("a=b"), "sasl.oauthbearer.token.endpoint.url in .* is missing"),
    "reserved-claim": (
        protocol("SASL_SSL") + bearer('unsecuredLoginStringClaim_sub="a" unsecuredLoginNumberClaim_exp="1"'),
        "sets the claim exp",
    ),
    "jks": (
        protocol("SSL") + "ssl.truststore.location=old.jks\n",
        "ssl.truststore.location in .* is a JKS store; make it PKCS #12 with `keytool -importkeystore",
    ),
    "wrong-store-password": (
        protocol("SSL") + "ssl.truststore.location=trust.p12\nssl.truststore.password=wrong-pw-77\n",
        "ssl.truststore.location in .* is neither PEM nor a PKCS #12 store that ssl.truststore.password opens",
    ),
    "no-key-password": (protocol("SSL") + "ssl.keystore.location=own.pem\n", "and ssl.key.password is missing"),
    "wrong-key-password": (
        protocol("SSL") + "ssl.keystore.location=own.pem\nssl.key.password=wrong-pw-77\n",
        "ssl.key.password does not open",
    ),
    "no-store": (protocol("SSL") + "ssl.truststore.location=none.pem\n", r"cannot be read: .*none.pem \(No such file"),
    "unknown-key": (protocol("SSL") + "ssl.cipher.suites=X\n", "ssl.cipher.suites in .* is not supported"),
    "unknown-protocol": (protocol("TLS"), "security.protocol in .* is none of PLAINTEXT, SSL"),
    "unknown-name-check": (
        protocol("SSL") + "ssl.endpoint.identification.algorithm=LDAPS\n",
        "neither https nor empty",
    ),
    "old-tls": (protocol("SSL") + "ssl.enabled.protocols=TLSv1.1\n", "has none of TLSv1.2, TLSv1.3"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_used_is_told_with_its_key_and_without_its_value(stores: Path, case: str) -> None:
    lines, sentence = REFUSED[case]
    with raises_user_error(ExitCode.USAGE, sentence) as error:
        read(stores, lines)
    assert "wrong-pw-77" not in str(error.value)
    assert PASSWORD not in str(error.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with raises_user_error(ExitCode.USAGE, "--client-properties .* cannot be read: No such file"):
        read_client_properties(tmp_path / "none.properties")


def test_properties_are_read_as_java_does() -> None:
    text = "\ta\\ b = 1 \\\n    # no comment\n!x\nu=\\u00e9\\\\\nempty\nk\\:e\\=y:v=w\nk=first\nk=last\\\\\\\nend"
    expected = {"a b": "1 # no comment", "u": "é\\", "empty": "", "k:e=y": "v=w", "k": "last\\end"}
    assert read_properties(text) == expected
