"""Key stores and trust stores, PEM or PKCS #12, as PEM texts. What a file is, its content says, not its ``type``."""

import re
from dataclasses import dataclass, field

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
    pkcs12,
)
from cryptography.x509 import Certificate

from harness.wire.security.security import Secret

_JKS = (b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce")  # JKS and JCEKS
_PEM_MARK = b"-----BEGIN "
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)
_PRIVATE_KEY = re.compile(r"-----BEGIN (?:\w+ )*PRIVATE KEY-----.*?-----END (?:\w+ )*PRIVATE KEY-----", re.DOTALL)


class UnusableStore(ValueError):
    """A store cannot be read; the message goes on after its name: ``is …``. Nothing secret is in it."""


@dataclass(frozen=True, slots=True)
class KeyStore:
    """PEM texts: our certificate, those that issued it, and the private key, not encrypted."""

    certificate: str
    key: Secret = field(repr=False)


def trusted(content: bytes, password: Secret | None) -> str:
    """Every certificate of a trust store; :raises UnusableStore: when there is none or it cannot be opened."""
    if _PEM_MARK in content:
        return trusted_pem(content.decode("latin-1"))
    opened = _open_pkcs12(content, password)
    certificates = [opened.cert, *opened.additional_certs]
    found = _texts([entry.certificate for entry in certificates if entry is not None])
    if not found:
        raise UnusableStore("has no certificate")
    return found


def trusted_pem(text: str) -> str:
    """The certificates of a PEM text; :raises UnusableStore: when there is none."""
    found = _CERTIFICATE.findall(text)
    if not found:
        raise UnusableStore("has no certificate")
    return "\n".join(found) + "\n"


def own(content: bytes, store_password: Secret | None, key_password: Secret | None) -> KeyStore:
    """Our certificate and key.

    :param key_password: Of an encrypted key in a PEM file; in PKCS #12 the store's own opens the key.
    :raises UnusableStore: When one of the two is missing or cannot be opened.
    """
    if _PEM_MARK in content:
        text = content.decode("latin-1")
        return own_pem(text, text, key_password)
    opened = _open_pkcs12(content, store_password)
    if opened.key is None or opened.cert is None:
        raise UnusableStore("has no private key with its certificate")
    key = opened.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    chain = [opened.cert.certificate, *(entry.certificate for entry in opened.additional_certs)]
    return KeyStore(_texts(chain), Secret(key.decode()))


def own_pem(chain: str, key: str, key_password: Secret | None) -> KeyStore:
    """Our certificate and key from PEM texts; :raises UnusableStore:."""
    found = _PRIVATE_KEY.search(key)
    if found is None:
        raise UnusableStore("has no private key")
    encrypted = "ENCRYPTED" in found[0]
    try:
        opened = load_pem_private_key(found[0].encode(), _password(key_password) if encrypted else None)
    except TypeError:
        raise UnusableStore("has an encrypted private key, and ssl.key.password is missing") from None
    except (ValueError, UnsupportedAlgorithm):
        raise UnusableStore("has a private key that ssl.key.password does not open, or that is damaged") from None
    plain = opened.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return KeyStore(trusted_pem(chain), Secret(plain.decode()))


def _open_pkcs12(content: bytes, password: Secret | None) -> pkcs12.PKCS12KeyAndCertificates:
    if content.startswith(_JKS):
        raise UnusableStore(
            "is a JKS store; make it PKCS #12 with"
            " `keytool -importkeystore -srckeystore OLD -destkeystore NEW.p12 -deststoretype PKCS12`"
        )
    try:
        return pkcs12.load_pkcs12(content, _password(password))
    except (ValueError, UnsupportedAlgorithm):
        raise UnusableStore("is neither PEM nor a PKCS #12 store that its password opens") from None


def _password(password: Secret | None) -> bytes | None:
    return password.reveal().encode() if password is not None else None


def _texts(certificates: list[Certificate]) -> str:
    return "".join(certificate.public_bytes(Encoding.PEM).decode() for certificate in certificates)
