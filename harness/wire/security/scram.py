"""SCRAM as Kafka speaks it (RFC 5802, 7677; Kafka's ``ScramSaslClient``), one side of a conversation.

Kafka takes user names and passwords as they are (``ScramFormatter.normalize``), so no library that prepares them
(SASLprep) would do.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Generator, Mapping
from functools import lru_cache

from harness.wire.security.security import SCRAM_HASHES, PasswordLogin, Secret

LEAST_ITERATIONS = 4096
"""RFC 7677; below it Kafka's client refuses the server."""
_MOST_ITERATIONS = 10_000_000
_HEADER = "n,,"  # no channel binding, no other identity


class DistrustedServer(Exception):
    """The server does not know our password, or speaks another protocol; the message is a clause without secrets."""


def scram(login: PasswordLogin, nonce: str | None = None) -> Generator[bytes, bytes, None]:
    """Yields our messages and takes the server's; returns when the server has proved that it knows the password.

    :param nonce: For tests; drawn where it is not given.
    :raises DistrustedServer: When it has not.
    """
    name = SCRAM_HASHES[login.mechanism]
    first = f"n={_escaped(login.username)},r={nonce or secrets.token_hex(24)}"
    challenge = yield (_HEADER + first).encode()
    final, signature = _answered(name, login.password, first, challenge.decode("utf-8", "replace"))
    ending = _attributes((yield final.encode()).decode("utf-8", "replace"))
    if "e" in ending:
        raise DistrustedServer(f"it ended SCRAM with {ending['e']!r}")
    if not hmac.compare_digest(_decoded(ending, "v"), signature):
        raise DistrustedServer("it could not prove that it knows the password")


def _answered(name: str, password: Secret, first: str, challenge: str) -> tuple[str, bytes]:
    """Our last message, and what the server's last one must prove."""
    given = _attributes(challenge)
    nonce, salt, iterations = given.get("r", ""), _decoded(given, "s"), _iterations(given)
    ours = first.rpartition(",r=")[2]
    if not nonce.startswith(ours) or nonce == ours:
        raise DistrustedServer("it answered with a nonce that is not ours")
    without_proof = f"c={base64.b64encode(_HEADER.encode()).decode()},r={nonce}"
    signed = ",".join((first, challenge, without_proof)).encode()
    salted = _salted(name, password, salt, iterations)
    client_key = hmac.digest(salted, b"Client Key", name)
    stored_key = hashlib.new(name, client_key).digest()
    proof = bytes(a ^ b for a, b in zip(client_key, hmac.digest(stored_key, signed, name), strict=True))
    signature = hmac.digest(hmac.digest(salted, b"Server Key", name), signed, name)
    return f"{without_proof},p={base64.b64encode(proof).decode()}", signature


@lru_cache(maxsize=64)
def _salted(name: str, password: Secret, salt: bytes, iterations: int) -> bytes:
    """Costs milliseconds by design; a run opens hundreds of connections as one user."""
    return hashlib.pbkdf2_hmac(name, password.reveal().encode(), salt, iterations)


def _attributes(message: str) -> Mapping[str, str]:
    return {part[:1]: part[2:] for part in message.split(",") if part[1:2] == "="}


def _decoded(attributes: Mapping[str, str], name: str) -> bytes:
    try:
        return base64.b64decode(attributes.get(name, ""), validate=True)
    except binascii.Error:
        raise DistrustedServer("it answered with bytes that are no SCRAM") from None


def _iterations(attributes: Mapping[str, str]) -> int:
    given = attributes.get("i", "")
    if not given.isdecimal() or not LEAST_ITERATIONS <= int(given) <= _MOST_ITERATIONS:
        raise DistrustedServer(
            f"it asked for {given or 'no'} iterations of SCRAM, and {LEAST_ITERATIONS} are the least"
        )
    return int(given)


def _escaped(username: str) -> str:
    return username.replace("=", "=3D").replace(",", "=2C")
