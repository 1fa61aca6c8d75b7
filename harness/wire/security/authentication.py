"""SASL on one connection as generators: they yield the frames to send and take the answers, whoever does the I/O.

Kafka's ``SaslClientAuthenticator``: ApiVersions, to learn how the broker authenticates (KIP-43, KIP-152), then
SaslHandshake and as many SaslAuthenticate as the mechanism takes. On an open connection the last two are sent again
before the session ends (KIP-368); between them nothing else may be written, and answers to earlier requests come first.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias

from kio.static.protocol import ResponsePayload

from harness.base.kafka_error import KafkaError, error_name
from harness.wire.api_names import key_of
from harness.wire.codec.request_builder import Value, request
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.frames import decode, encode
from harness.wire.offered import Offered
from harness.wire.requests.cluster.api_versions import ApiVersions
from harness.wire.security.bearer_token import NoToken, bearer_token
from harness.wire.security.sasl_settings import ENDPOINT, JAAS
from harness.wire.security.scram import DistrustedServer, scram
from harness.wire.security.security import BearerLogin, PasswordLogin, SaslSettings, Security
from harness.wire.wire_errors import SecurityRefused, UnreadableAnswer

CORRELATION = 2**31 - 1
"""Of every request here; other requests are numbered from 1."""
RENEWED_AFTER = 0.85
"""The part of a session after which it is renewed; Kafka's client takes 0.85 to 0.95."""
_VERSIONS = (0, 1, 2)  # of SaslAuthenticate
_SEPARATOR = "\x01"


@dataclass(frozen=True, slots=True, kw_only=True)
class SaslSession:
    """What was agreed.

    :param version: Of SaslAuthenticate, for the next time on this connection.
    :param lifetime_ms: After which the broker closes the connection unless it is renewed; 0 for never.
    """

    version: int
    lifetime_ms: int

    @property
    def renew_after_ms(self) -> float | None:
        """Milliseconds after the last answer at which to authenticate again, before the next request; None for never.

        The broker looks only when a request comes: an idle connection needs no renewal.
        """
        return self.lifetime_ms * RENEWED_AFTER if self.lifetime_ms else None


Conversation: TypeAlias = Generator[bytes, bytes, SaslSession]
"""Yields whole frames, length included; is sent answers without their length."""
Messages: TypeAlias = Generator[bytes, bytes, None]


def authenticate(security: Security, who: str, actor: str) -> Conversation:
    """On a new connection.

    :param who: The broker, as sentences name it.
    :param actor: The client id.
    :raises SecurityRefused: When it failed; the broker closes the connection.
    """
    entity = ApiVersions().build(0)
    answered = ApiVersions().read(_decoded("ApiVersions", 0, (yield encode(entity, CORRELATION, actor)), who))
    version = _common_version(answered, who, security)
    return (yield from authenticate_again(security, who, actor, version))


def authenticate_again(security: Security, who: str, actor: str, version: int) -> Conversation:
    """On an open connection; ``version`` is that of its :class:`SaslSession`."""
    sasl = security.sasl
    if sasl is None:
        raise ValueError("there is nothing to authenticate with")
    shaken = yield _frame("SaslHandshake", 1, actor, mechanism=sasl.mechanism)
    _check_mechanism(ResponseFields(_decoded("SaslHandshake", 1, shaken, who)), who, security)
    try:
        messages = _messages(sasl)
        token = next(messages)
        while True:
            frame = yield _frame("SaslAuthenticate", version, actor, auth_bytes=token)
            answer = ResponseFields(_decoded("SaslAuthenticate", version, frame, who))
            _check_credentials(answer, sasl, who, security)
            try:
                token = messages.send(answer.octets("auth_bytes"))
            except StopIteration:
                return SaslSession(version=version, lifetime_ms=max(0, answer.number("session_lifetime", 0)))
    except DistrustedServer as error:
        raise SecurityRefused(f"{who} is not trusted: {security.redacted(str(error))}") from None
    except NoToken as error:
        raise SecurityRefused(f"{error}: see {security.key(ENDPOINT)}") from None


def _messages(sasl: SaslSettings) -> Messages:
    if not isinstance(sasl, PasswordLogin):
        return _bearer(sasl)
    return _plain(sasl) if sasl.mechanism == "PLAIN" else scram(sasl)


def _plain(login: PasswordLogin) -> Messages:
    """RFC 4616; no other identity to act as."""
    yield f"\0{login.username}\0{login.password.reveal()}".encode()


def _bearer(login: BearerLogin) -> Messages:
    """RFC 7628: an answer with bytes is a refusal, which ends only after a message of ours."""
    token = bearer_token(login).token.reveal()
    extensions = "".join(f"{key}={value}{_SEPARATOR}" for key, value in login.extensions)
    refused = yield f"n,,{_SEPARATOR}auth=Bearer {token}{_SEPARATOR}{extensions}{_SEPARATOR}".encode()
    if refused:
        yield _SEPARATOR.encode()


def _common_version(offered: Offered, who: str, security: Security) -> int:
    common = [version for version in _VERSIONS if offered.offers("SaslAuthenticate", version)]
    if not common:
        raise SecurityRefused(f"{who} offers no SASL that we know: see {security.key('security.protocol')}")
    return common[-1]


def _check_mechanism(answer: ResponseFields, who: str, security: Security) -> None:
    code, offered = answer.error(), ", ".join(answer.texts("mechanisms")) or "none"
    if code == KafkaError.UNSUPPORTED_SASL_MECHANISM:
        raise SecurityRefused(f"{who} does not take this mechanism but {offered}: see {security.key('sasl.mechanism')}")
    if code == KafkaError.ILLEGAL_SASL_STATE:
        raise SecurityRefused(f"{who} does not speak SASL: see {security.key('security.protocol')}")
    if code:
        raise SecurityRefused(f"{who} answered SaslHandshake with {error_name(code)}")


def _check_credentials(answer: ResponseFields, sasl: SaslSettings, who: str, security: Security) -> None:
    if not answer.error():
        return
    said = security.redacted(answer.message() or error_name(answer.error()))
    user = sasl.username if isinstance(sasl, PasswordLogin) else "the token"
    raise SecurityRefused(f"{who} refused {user} by {sasl.mechanism} ({said}): see {security.key(JAAS)}")


def _frame(api: str, version: int, actor: str, **fields: Value) -> bytes:
    return encode(request(api, version, **fields), CORRELATION, actor)


def _decoded(api: str, version: int, frame: bytes, who: str) -> ResponsePayload:
    try:
        return decode(key_of(api), version, frame)
    except UnreadableAnswer as error:
        raise SecurityRefused(f"{who} answered SASL with bytes that are none: {error}") from None
