"""SCRAM against the examples of RFC 7677, and servers that cannot be trusted."""

from collections.abc import Generator

import pytest

from harness.wire.security.scram import DistrustedServer, scram
from harness.wire.security.security import PasswordLogin, Secret

NONCE = "rOprNGfwEbeRWgbNEkqO"
FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
CHALLENGE = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
FINAL = b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
PROOF = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def begun(username: str = "user", mechanism: str = "SCRAM-SHA-256") -> Generator[bytes, bytes, None]:
    """RFC 7677's client."""
    return scram(PasswordLogin(mechanism=mechanism, username=username, password=Secret("pencil")), NONCE)


def test_the_conversation_of_rfc_7677() -> None:
    ours = begun()
    assert next(ours) == FIRST
    assert ours.send(CHALLENGE) == FINAL
    with pytest.raises(StopIteration):
        ours.send(PROOF)


@pytest.mark.parametrize(
    ("ending", "clause"),
    [
        (PROOF.replace(b"6r", b"7r"), "could not prove"),
        (b"e=other-error", "ended SCRAM with 'other-error'"),
        (b"v=?", "no SCRAM"),
        (b"", "could not prove"),
    ],
)
def test_a_server_that_does_not_know_the_password_is_not_trusted(ending: bytes, clause: str) -> None:
    ours = begun()
    next(ours)
    ours.send(CHALLENGE)
    with pytest.raises(DistrustedServer, match=clause):
        ours.send(ending)


@pytest.mark.parametrize(
    ("challenge", "clause"),
    [
        (CHALLENGE.replace(b"r=rO", b"r=xx"), "a nonce that is not ours"),
        (b"r=" + NONCE.encode() + b",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "a nonce that is not ours"),
        (CHALLENGE.replace(b"4096", b"1"), "4096 are the least"),
        (CHALLENGE.replace(b"4096", b"999999999"), "4096 are the least"),
        (b"\xff\xfe", "it asked for no iterations"),
    ],
)
def test_a_challenge_that_weakens_the_conversation_is_refused(challenge: bytes, clause: str) -> None:
    ours = begun()
    next(ours)
    with pytest.raises(DistrustedServer, match=clause):
        ours.send(challenge)


def test_a_user_name_is_escaped_and_the_other_hash_is_longer() -> None:
    ours = begun("a=b,c", "SCRAM-SHA-512")
    assert next(ours) == b"n,,n=a=3Db=2Cc,r=" + NONCE.encode()
    proof = ours.send(CHALLENGE).rpartition(b",p=")[2]
    assert len(proof) == 88  # 64 bytes in base64
