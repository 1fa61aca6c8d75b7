"""Tokens of OAUTHBEARER: made by ourselves without signature, or got from an endpoint and kept until they get old."""

import base64
import http.client
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from urllib.parse import SplitResult, quote_plus, urlencode, urlsplit

from harness.wire.security.security import BearerLogin, ClientCredentials, Secret, UnsecuredLogin

ANSWER_SECONDS = 10.0
KEPT_FOR = 0.8
"""The part of its life after which a token is not used for a new connection; as Kafka's ``sasl.login.refresh.*``."""


class NoToken(Exception):
    """The endpoint gave none; the message is a clause without secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BearerToken:
    """``got`` and ``expires`` are seconds of the Unix clock."""

    token: Secret
    principal: str
    got: float
    expires: float

    def young(self, now: float) -> bool:
        return now < self.got + KEPT_FOR * (self.expires - self.got)


_kept: dict[ClientCredentials, BearerToken] = {}
_asking = Lock()


def bearer_token(login: BearerLogin, clock: Callable[[], float] = time.time) -> BearerToken:
    """A token that can be used now. May wait for the endpoint, at most :data:`ANSWER_SECONDS` an answer.

    :raises NoToken: When the endpoint gives none.
    """
    if isinstance(login, UnsecuredLogin):
        return unsecured_token(login, clock())
    with _asking:
        kept = _kept.get(login)
        if kept is None or not kept.young(clock()):
            kept = _kept[login] = _fetched(login, clock())
        return kept


def unsecured_token(login: UnsecuredLogin, now: float) -> BearerToken:
    """Header and claims in base64, and an empty signature (RFC 7515, appendix A.5).

    Times are cut to milliseconds, as Java's are: a broker refuses a token that is made after its own clock's now.
    """
    now = math.floor(now * 1000) / 1000
    expires = now + login.lifetime_seconds
    claims = {"exp": expires, "iat": now, **{name: json.loads(value) for name, value in login.claims}}
    token = f"{_encoded({'alg': 'none'})}.{_encoded(claims)}."
    return BearerToken(token=Secret(token), principal=login.principal, got=now, expires=expires)


def _encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _fetched(login: ClientCredentials, now: float) -> BearerToken:
    place = urlsplit(login.endpoint)
    try:
        status, body = _posted(place, login)
        answer = json.loads(body) if status == http.HTTPStatus.OK else {}
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NoToken(f"{place.hostname} gave no token ({type(error).__name__})") from None
    token = answer.get("access_token") if isinstance(answer, dict) else None
    if not isinstance(token, str) or not token:
        raise NoToken(f"{place.hostname} gave no token (HTTP status {status})")
    return BearerToken(token=Secret(token), principal=login.client_id, got=now, expires=_expiry(token, answer, now))


def _posted(place: SplitResult, login: ClientCredentials) -> tuple[int, bytes]:
    kind = http.client.HTTPSConnection if place.scheme == "https" else http.client.HTTPConnection
    connection = kind(place.hostname or "", place.port, timeout=ANSWER_SECONDS)
    form = {"grant_type": "client_credentials", **({"scope": login.scope} if login.scope else {})}
    headers = {
        "Authorization": f"Basic {_basic(login)}",
        "Accept": "application/json",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    path = (place.path or "/") + (f"?{place.query}" if place.query else "")
    try:
        connection.request("POST", path, urlencode(form), headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def _basic(login: ClientCredentials) -> str:
    pair = (login.client_id, login.client_secret.reveal())
    if login.urlencode:
        pair = (quote_plus(pair[0]), quote_plus(pair[1]))
    return base64.b64encode(":".join(pair).encode()).decode()


def _expiry(token: str, answer: dict[str, object], now: float) -> float:
    """The answer's ``expires_in``, or the claim ``exp`` of a token that can be read; else it is used but once."""
    seconds = answer.get("expires_in")
    if isinstance(seconds, int | float):
        return now + seconds
    try:
        claims = token.split(".")[1]
        return float(json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["exp"])
    except (IndexError, ValueError, KeyError, TypeError):
        return now
