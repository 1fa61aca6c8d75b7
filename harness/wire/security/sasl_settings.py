"""The ``sasl.*`` properties of Kafka's clients (Kafka's ``SaslConfigs``) as :data:`SaslSettings`."""

import json
import re
from collections.abc import Callable, Iterable, Mapping

from harness.wire.security.given_properties import GivenProperties
from harness.wire.security.jaas import LoginModule, MalformedJaas, parse_jaas
from harness.wire.security.security import (
    BEARER,
    MECHANISMS,
    BearerLogin,
    ClientCredentials,
    PasswordLogin,
    SaslSettings,
    Secret,
    UnsecuredLogin,
)

JAAS = "sasl.jaas.config"
ENDPOINT = "sasl.oauthbearer.token.endpoint.url"
_CLIENT_ID = "sasl.oauthbearer.client.credentials.client.id"
_CLIENT_SECRET = "sasl.oauthbearer.client.credentials.client.secret"  # noqa: S105  the key's name
_SCOPE = "sasl.oauthbearer.scope"
_URLENCODE = "sasl.oauthbearer.header.urlencode"
_CALLBACKS = "sasl.login.callback.handler.class"
KEYS = {"sasl.mechanism", JAAS, ENDPOINT, _CLIENT_ID, _CLIENT_SECRET, _SCOPE, _URLENCODE, _CALLBACKS}
_KAFKAS_CALLBACKS = ("OAuthBearerLoginCallbackHandler", "OAuthBearerUnsecuredLoginCallbackHandler")
_UNSECURED = "unsecuredLogin"
_RESERVED_CLAIMS = ("iat", "exp")


def read_sasl(given: GivenProperties) -> SaslSettings:
    """:raises UserError: USAGE, for a mechanism that is not there, and for a login that cannot be used."""
    mechanism = given.needed("sasl.mechanism", f"without it Kafka takes GSSAPI; supported are {', '.join(MECHANISMS)}")
    if mechanism not in MECHANISMS:
        raise given.wrong("sasl.mechanism", f"is {mechanism!r}, which is not supported ({', '.join(MECHANISMS)} are)")
    login = _module(given, mechanism)
    return _bearer(given, login.options) if mechanism == BEARER else _password(given, mechanism, login.options)


def _module(given: GivenProperties, mechanism: str) -> LoginModule:
    name = {"PLAIN": "PlainLoginModule", BEARER: "OAuthBearerLoginModule"}.get(mechanism, "ScramLoginModule")
    text = given.needed(JAAS, f'user and password stand there: {name} required username="…" password="…";')
    try:
        login = parse_jaas(text)
    except MalformedJaas as error:
        raise given.wrong(JAAS, f"cannot be read: {error}") from None
    if login.name != name:
        raise given.wrong(JAAS, f"names {login.name}, and {mechanism} needs {name}")
    return login


def _password(given: GivenProperties, mechanism: str, options: Mapping[str, str]) -> PasswordLogin:
    if missing := [name for name in ("username", "password") if not options.get(name)]:
        raise given.wrong(JAAS, f"has no {' and no '.join(missing)}")
    if options.get("tokenauth", "false").lower() == "true":
        raise given.wrong(JAAS, "asks for tokenauth, and delegation tokens are not supported")
    return PasswordLogin(mechanism=mechanism, username=options["username"], password=Secret(options["password"]))


def _bearer(given: GivenProperties, options: Mapping[str, str]) -> BearerLogin:
    callbacks = given.get(_CALLBACKS)
    if callbacks and callbacks.rpartition(".")[2] not in _KAFKAS_CALLBACKS:
        raise given.wrong(_CALLBACKS, f"is none of Kafka's own ({', '.join(_KAFKAS_CALLBACKS)})")
    if given.get(ENDPOINT):
        return _client_credentials(given, options)
    if any(name.startswith(_UNSECURED) for name in options):
        return _unsecured(given, options)
    raise given.wrong(ENDPOINT, f"is missing, and {JAAS} has no {_UNSECURED}StringClaim_sub either")


def _client_credentials(given: GivenProperties, options: Mapping[str, str]) -> ClientCredentials:
    endpoint = given.get(ENDPOINT)
    if not endpoint.startswith(("http://", "https://")):
        raise given.wrong(ENDPOINT, "does not begin with http:// or https://")
    client_id, secret = (
        options.get(option) or given.values.get(key)
        for option, key in (("clientId", _CLIENT_ID), ("clientSecret", _CLIENT_SECRET))
    )
    if not client_id or not secret:
        raise given.wrong(JAAS, "has no clientId or no clientSecret")
    return ClientCredentials(
        endpoint=endpoint,
        client_id=client_id,
        client_secret=Secret(secret),
        scope=options.get("scope") or given.get(_SCOPE) or None,
        extensions=_after("extension_", options),
        urlencode=given.get(_URLENCODE, "false").lower() == "true",
    )


def _unsecured(given: GivenProperties, options: Mapping[str, str]) -> UnsecuredLogin:
    """Kafka's ``OAuthBearerUnsecuredLoginCallbackHandler``: its options and their defaults."""
    try:
        claims = dict(_claims(options))
        lifetime = int(options.get(f"{_UNSECURED}LifetimeSeconds", "3600"))
    except ValueError:
        raise given.wrong(JAAS, f"has a {_UNSECURED}NumberClaim or a lifetime that is no number") from None
    principal = options.get(f"{_UNSECURED}PrincipalClaimName", "").strip() or "sub"
    if reserved := [name for name in _RESERVED_CLAIMS if name in claims]:
        raise given.wrong(JAAS, f"sets the claim {reserved[0]}, which is made from the time")
    if not isinstance(name := json.loads(claims.get(principal, "null")), str) or not name:
        raise given.wrong(JAAS, f"has no {_UNSECURED}StringClaim_{principal}")
    return UnsecuredLogin(
        claims=tuple(claims.items()),
        principal=name,
        principal_claim=principal,
        lifetime_seconds=lifetime,
        extensions=_after(f"{_UNSECURED}Extension_", options),
    )


def _claims(options: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    kinds: Mapping[str, Callable[[str], object]] = {"StringClaim_": str, "NumberClaim_": float, "ListClaim_": _listed}
    for kind, typed in kinds.items():
        yield from ((name, json.dumps(typed(text))) for name, text in _after(_UNSECURED + kind, options))


def _listed(text: str) -> list[str]:
    """The first character divides the others; :class:`ValueError` never.

    >>> _listed("|a|b"), _listed("")
    (['a', 'b'], [])
    """
    return re.split(re.escape(text[0]), text[1:]) if len(text) > 1 else []


def _after(prefix: str, options: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (key[len(prefix) :], value) for key, value in options.items() if key.startswith(prefix) and key != prefix
    )
