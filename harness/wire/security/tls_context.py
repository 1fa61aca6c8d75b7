"""Python's own TLS made ready from settings."""

import secrets
import ssl
import tempfile
from functools import lru_cache
from pathlib import Path

from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from harness.wire.security.security import TlsSettings

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


@lru_cache
def tls_context(tls: TlsSettings) -> ssl.SSLContext:
    """A client's context, made once for equal settings. A name is verified where the settings say so."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = tls.verify_name
    context.minimum_version = _VERSIONS[min(tls.versions)]
    context.maximum_version = _VERSIONS[max(tls.versions)]
    if tls.authorities is None:
        context.load_default_certs()
    else:
        context.load_verify_locations(cadata=tls.authorities)
    if tls.certificate and tls.key:
        _load_own(context, tls.certificate, tls.key.reveal())
    return context


def _load_own(context: ssl.SSLContext, certificate: str, key: str) -> None:
    """Python takes a key from a file only: one that we alone may read, encrypted with a password that nobody keeps."""
    password = secrets.token_bytes(32).hex().encode()
    opened = load_pem_private_key(key.encode(), None)
    encrypted = opened.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(password))
    with tempfile.TemporaryDirectory(prefix="fencepost-") as folder:  # made with mode 0700
        path = Path(folder) / "own.pem"
        path.touch(mode=0o600)
        path.write_bytes(certificate.encode() + encrypted)
        context.load_cert_chain(path, password=password)
