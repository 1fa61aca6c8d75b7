"""How to connect, as options of Spark's Kafka source, which hands ``kafka.…`` on to Kafka's own Java client.

Stores are given as PEM texts in the options, so that executors on other machines need no files. Passwords and keys
stand neither in Spark's log nor in the error of a query that failed, which quotes its analyzed plan. The text of a
*parsed* plan, before analysis, shows options as they were given, whatever redaction is set: never print it.
"""

import json
from collections.abc import Iterator, Mapping

from harness.wire.security.security import (
    ClientCredentials,
    PasswordLogin,
    SaslSettings,
    Security,
    TlsSettings,
    UnsecuredLogin,
)

_MODULES = "org.apache.kafka.common.security"
_BEARER = f"{_MODULES}.oauthbearer"
_DIVIDERS = "|,;/#~ "


def kafka_options(security: Security) -> dict[str, str]:
    """Nothing for plaintext. Java verifies the names under which brokers advertise themselves."""
    if security.plaintext:
        return {}
    settings: dict[str, str] = {"security.protocol": security.protocol}
    if security.tls is not None:
        settings |= _of_tls(security.tls)
    if security.sasl is not None:
        settings |= _of_sasl(security.sasl)
    return {f"kafka.{key}": value for key, value in settings.items()}


def _of_tls(tls: TlsSettings) -> dict[str, str]:
    settings = {
        "ssl.endpoint.identification.algorithm": "https" if tls.verify_name else "",
        "ssl.enabled.protocols": ",".join(tls.versions),
        "ssl.protocol": max(tls.versions),
    }
    if tls.authorities is not None:
        settings |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": tls.authorities}
    if tls.certificate is not None and tls.key is not None:
        settings |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": tls.certificate,
            "ssl.keystore.key": tls.key.reveal(),
        }
    return settings


def _of_sasl(sasl: SaslSettings) -> dict[str, str]:
    settings = {"sasl.mechanism": sasl.mechanism}
    match sasl:
        case PasswordLogin(username=username, password=password):
            module = "plain.PlainLoginModule" if sasl.mechanism == "PLAIN" else "scram.ScramLoginModule"
            login = _jaas(module, {"username": username, "password": password.reveal()})
        case ClientCredentials():
            settings |= {
                "sasl.oauthbearer.token.endpoint.url": sasl.endpoint,
                "sasl.login.callback.handler.class": f"{_BEARER}.OAuthBearerLoginCallbackHandler",
            }
            login = _jaas("oauthbearer.OAuthBearerLoginModule", dict(_credentials(sasl)))
        case UnsecuredLogin():
            login = _jaas("oauthbearer.OAuthBearerLoginModule", dict(_unsecured(sasl)))
    return {**settings, "sasl.jaas.config": login}


def _credentials(login: ClientCredentials) -> Iterator[tuple[str, str]]:
    yield "clientId", login.client_id
    yield "clientSecret", login.client_secret.reveal()
    if login.scope:
        yield "scope", login.scope
    yield from ((f"extension_{name}", value) for name, value in login.extensions)


def _unsecured(login: UnsecuredLogin) -> Iterator[tuple[str, str]]:
    yield "unsecuredLoginPrincipalClaimName", login.principal_claim
    yield "unsecuredLoginLifetimeSeconds", str(login.lifetime_seconds)
    for name, text in login.claims:
        kind, value = _claim(json.loads(text))
        yield f"unsecuredLogin{kind}Claim_{name}", value
    yield from ((f"unsecuredLoginExtension_{name}", value) for name, value in login.extensions)


def _claim(value: object) -> tuple[str, str]:
    """Kafka's kind of claim, and its text; a list begins with the character that divides it."""
    if isinstance(value, list):
        divider = next(each for each in _DIVIDERS if not any(each in item for item in value))
        return "List", "".join(divider + item for item in value)
    return ("String", value) if isinstance(value, str) else ("Number", str(value))


def _jaas(module: str, options: Mapping[str, str]) -> str:
    """Text that Kafka's ``JaasConfig`` reads: values in quotes, with Java's escapes."""
    written = " ".join(f"{name}={_quoted(value)}" for name, value in options.items())
    return f"{_MODULES}.{module} required {written};"


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'
