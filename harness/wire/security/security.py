"""How clients connect: the settings of TLS and SASL as values. Nothing secret shows in their ``repr``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

SCRAM_HASHES: Mapping[str, str] = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
"""The mechanisms of RFC 5802 that Kafka has, with the names of their hashes."""
BEARER = "OAUTHBEARER"
MECHANISMS = ("PLAIN", *SCRAM_HASHES, BEARER)


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A text that must not be printed: ``str``, ``repr`` and formatting hide it."""

    _text: str

    def reveal(self) -> str:
        """The text itself, for the wire and for libraries."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsSettings:
    """PEM texts, whatever kind of store they were given in.

    :param authorities: Certificates that are trusted; None for those of the system.
    :param certificate: Our own with its chain, for a listener that asks for one (mTLS).
    :param key: Our private key (PKCS #8, not encrypted); None without a certificate.
    :param verify_name: Whether the server's name must stand in its certificate.
    :param versions: ``TLSv1.2``, ``TLSv1.3``.
    """

    authorities: str | None = None
    certificate: str | None = None
    key: Secret | None = None
    verify_name: bool = True
    versions: tuple[str, ...] = ("TLSv1.2", "TLSv1.3")


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordLogin:
    """PLAIN (RFC 4616) and SCRAM (RFC 5802)."""

    mechanism: str
    username: str
    password: Secret

    @property
    def secrets(self) -> tuple[Secret, ...]:
        return (self.password,)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsecuredLogin:
    """A token without signature, as Kafka's ``OAuthBearerUnsecuredLoginCallbackHandler`` makes it, for tests.

    :param claims: As JSON texts by name, without ``iat`` and ``exp``.
    :param principal: The value of ``principal_claim``.
    """

    claims: tuple[tuple[str, str], ...]
    principal: str
    principal_claim: str = "sub"
    lifetime_seconds: int = 3600
    extensions: tuple[tuple[str, str], ...] = ()

    @property
    def mechanism(self) -> str:
        return BEARER

    @property
    def secrets(self) -> tuple[Secret, ...]:
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCredentials:
    """A token from an endpoint by the client credentials grant (RFC 6749, 4.4; KIP-768)."""

    endpoint: str
    client_id: str
    client_secret: Secret
    scope: str | None = None
    extensions: tuple[tuple[str, str], ...] = ()
    urlencode: bool = False

    @property
    def mechanism(self) -> str:
        return BEARER

    @property
    def secrets(self) -> tuple[Secret, ...]:
        return (self.client_secret,)


BearerLogin: TypeAlias = UnsecuredLogin | ClientCredentials
SaslSettings: TypeAlias = PasswordLogin | BearerLogin
Protocol: TypeAlias = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Security:
    """How to connect to the brokers of a cluster.

    :param names: For each node the host that its certificate is for, where clients connect to another (a proxy).
    :param file: Where it was read from, for sentences about what is wrong with it.
    """

    tls: TlsSettings | None = None
    sasl: SaslSettings | None = None
    names: Mapping[int, str] = field(default_factory=dict)
    file: str = field(default="", compare=False)

    @property
    def protocol(self) -> Protocol:
        """Kafka's ``security.protocol``."""
        if self.sasl is None:
            return "PLAINTEXT" if self.tls is None else "SSL"
        return "SASL_PLAINTEXT" if self.tls is None else "SASL_SSL"

    @property
    def plaintext(self) -> bool:
        """Whether nothing precedes the first request of a connection."""
        return self.tls is None and self.sasl is None

    def key(self, name: str) -> str:
        """``name`` with the file that it stands in, as sentences name it."""
        return f"{name} in {self.file}" if self.file else f"{name} (--client-properties)"

    def redacted(self, text: str) -> str:
        """``text`` of a server without what is secret."""
        secrets = self.sasl.secrets if self.sasl else ()
        for secret in filter(None, (secret.reveal() for secret in secrets)):
            text = text.replace(secret, "…")
        return text


PLAINTEXT = Security()
