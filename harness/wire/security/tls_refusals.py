"""What went wrong with TLS, as one sentence that names the key to look at."""

import ssl

from harness.base.addresses import Address
from harness.wire.security.security import Security
from harness.wire.wire_errors import SecurityRefused

ALERT = b"\x15\x03"
"""How a TLS record with an alert begins: what a TLS listener answers to a request in plaintext."""
_EXPIRED, _NOT_YET = 10, 9  # X509_V_ERR_… of OpenSSL's x509_vfy.h
_UNKNOWN_ISSUER = (2, 18, 19, 20, 21)
_OTHER_NAME = (62, 64)


def tls_refused(error: ssl.SSLError, address: Address, server_name: str, security: Security) -> SecurityRefused:
    """The sentence for an error of the handshake, or of the first answer: TLS 1.3 tells a client only there."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return SecurityRefused(_not_trusted(error, address, server_name, security))
    reason = error.reason or str(error)
    if "ALERT" in reason and any(word in reason for word in ("CERTIFICATE", "UNKNOWN_CA")):
        ours = security.key("ssl.keystore.location")
        return SecurityRefused(f"{address} refused our certificate, or misses one ({_said(reason)}): see {ours}")
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL"):
        return SecurityRefused(f"{address} does not speak TLS: see {security.key('security.protocol')}")
    if "PROTOCOL_VERSION" in reason or reason == "UNSUPPORTED_PROTOCOL":
        versions = security.key("ssl.enabled.protocols")
        return SecurityRefused(f"{address} speaks no common version of TLS ({_said(reason)}): see {versions}")
    return SecurityRefused(f"{address} and we could not agree on TLS: {_said(reason)}")


def closed_in_handshake(address: Address, security: Security) -> SecurityRefused:
    """A plaintext listener takes the first bytes of TLS for a length that is too large, and closes."""
    protocol = security.key("security.protocol")
    return SecurityRefused(
        f"{address} closed the connection during TLS, as a listener without TLS does: see {protocol}"
    )


def answered_with_alert(address: Address, security: Security) -> SecurityRefused:
    """A TLS listener takes a request in plaintext for a damaged record."""
    protocol = security.key("security.protocol")
    return SecurityRefused(f"{address} speaks TLS, and we spoke {security.protocol}: see {protocol}")


def _not_trusted(error: ssl.SSLCertVerificationError, address: Address, server_name: str, security: Security) -> str:
    code = error.verify_code
    if code in (_EXPIRED, _NOT_YET):
        when = "has expired" if code == _EXPIRED else "is not valid yet"
        return f"the certificate of {address}, or one that issued it, {when}: its owner must renew it"
    if code in _UNKNOWN_ISSUER:
        trust = security.key("ssl.truststore.location")
        return f"the certificate of {address} was issued by none that we trust: see {trust}"
    if code in _OTHER_NAME:
        off = security.key("ssl.endpoint.identification.algorithm")
        return f"the certificate of {address} is not for {server_name!r}: use the name that it is for, or see {off}"
    return f"the certificate of {address} is not valid: {error.verify_message}"


def _said(reason: str) -> str:
    return reason.lower().replace("_", " ")
