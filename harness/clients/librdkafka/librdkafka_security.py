"""How to connect, as librdkafka's settings. Stores are given as PEM texts, so that no file is made."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from harness.wire.security.bearer_token import bearer_token
from harness.wire.security.security import BearerLogin, PasswordLogin, Security, TlsSettings

TokenCallback: TypeAlias = Callable[[str], tuple[str, float, str, Mapping[str, str]]]
SecuritySetting: TypeAlias = str | bool | TokenCallback


def security_settings(security: Security) -> dict[str, SecuritySetting]:
    """Nothing for plaintext.

    Brokers' own addresses are verified, also through a proxy, because librdkafka has no setting for another name.
    """
    if security.plaintext:
        return {}
    settings: dict[str, SecuritySetting] = {"security.protocol": security.protocol}
    if security.tls is not None:
        settings |= _of_tls(security.tls)
    match security.sasl:
        case PasswordLogin(mechanism=mechanism, username=username, password=password):
            settings |= {
                "sasl.mechanisms": mechanism,
                "sasl.username": username,
                "sasl.password": password.reveal(),
            }
        case None:
            pass
        case login:
            settings |= {"sasl.mechanisms": login.mechanism, "oauth_cb": _token_of(login)}
    return settings


def _of_tls(tls: TlsSettings) -> dict[str, SecuritySetting]:
    settings: dict[str, SecuritySetting] = {
        "ssl.endpoint.identification.algorithm": "https" if tls.verify_name else "none"
    }
    if tls.authorities is not None:
        settings["ssl.ca.pem"] = tls.authorities
    if tls.certificate is not None and tls.key is not None:
        settings |= {"ssl.certificate.pem": tls.certificate, "ssl.key.pem": tls.key.reveal()}
    return settings


def _token_of(login: BearerLogin) -> TokenCallback:
    def token(_config: str) -> tuple[str, float, str, Mapping[str, str]]:
        """confluent-kafka's ``oauth_cb``: token, when it expires (seconds), principal, extensions."""
        given = bearer_token(login)
        return given.token.reveal(), given.expires, given.principal, dict(login.extensions)

    return token
