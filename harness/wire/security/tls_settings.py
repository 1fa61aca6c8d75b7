"""The ``ssl.*`` properties of Kafka's clients (Kafka's ``SslConfigs``) as :class:`TlsSettings`."""

from harness.wire.security.given_properties import GivenProperties
from harness.wire.security.key_stores import KeyStore, UnusableStore, own, own_pem, trusted, trusted_pem
from harness.wire.security.security import TlsSettings

STORE_TYPES = ("JKS", "PKCS12", "PEM")
VERSIONS = ("TLSv1.2", "TLSv1.3")
KEYS = {
    "ssl.truststore.location",
    "ssl.truststore.type",
    "ssl.truststore.password",
    "ssl.truststore.certificates",
    "ssl.keystore.location",
    "ssl.keystore.type",
    "ssl.keystore.password",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
    "ssl.enabled.protocols",
    "ssl.protocol",
}
"""What is understood; others that change the connection are refused."""


def read_tls(given: GivenProperties) -> TlsSettings:
    """:raises UserError: USAGE, for what cannot be used."""
    for key in ("ssl.truststore.type", "ssl.keystore.type"):
        if given.get(key) and given.get(key).upper() not in STORE_TYPES:
            raise given.wrong(key, f"is none of {', '.join(STORE_TYPES)}")
    keys = _own(given)
    return TlsSettings(
        authorities=_authorities(given),
        certificate=keys.certificate if keys else None,
        key=keys.key if keys else None,
        verify_name=_verifies(given),
        versions=_versions(given),
    )


def _authorities(given: GivenProperties) -> str | None:
    inline, location = "ssl.truststore.certificates", "ssl.truststore.location"
    key = inline if given.get(inline) else location
    if not given.get(key):
        return None
    try:
        if key == inline:
            return trusted_pem(given.get(inline))
        return trusted(given.content(location), given.secret("ssl.truststore.password"))
    except UnusableStore as error:
        raise given.wrong(key, _told(error, "ssl.truststore.password")) from None


def _own(given: GivenProperties) -> KeyStore | None:
    inline, location = "ssl.keystore.certificate.chain", "ssl.keystore.location"
    key = inline if given.get(inline) else location
    if not given.get(key):
        return None
    key_password = given.secret("ssl.key.password")
    try:
        if key == inline:
            return own_pem(given.get(inline), given.needed("ssl.keystore.key", f"{inline} needs it"), key_password)
        return own(given.content(location), given.secret("ssl.keystore.password"), key_password)
    except UnusableStore as error:
        raise given.wrong(key, _told(error, "ssl.keystore.password")) from None


def _told(error: UnusableStore, password_key: str) -> str:
    return f"{error}".replace("its password", password_key)


def _verifies(given: GivenProperties) -> bool:
    key = "ssl.endpoint.identification.algorithm"
    algorithm = given.get(key, "https").lower()
    if algorithm not in ("", "https"):
        raise given.wrong(key, "is neither https nor empty")
    return bool(algorithm)


def _versions(given: GivenProperties) -> tuple[str, ...]:
    key = "ssl.enabled.protocols"
    enabled = [version.strip() for version in given.get(key, ",".join(VERSIONS)).split(",")]
    highest = given.get("ssl.protocol", VERSIONS[-1])  # Kafka gives it to SSLContext, which offers nothing above it
    if highest not in (*VERSIONS, "TLS"):
        raise given.wrong("ssl.protocol", f"is none of {', '.join(VERSIONS)}, TLS")
    usable = tuple(v for v in VERSIONS if v in enabled and (highest == "TLS" or v <= highest))
    if not usable:
        raise given.wrong(key, f"has none of {', '.join(VERSIONS)} that ssl.protocol allows")
    return usable
