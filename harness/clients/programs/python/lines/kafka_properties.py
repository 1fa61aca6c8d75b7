"""What a secured cluster needs, read from a file in Kafka's own format (PROTOCOL.md, ``properties_file``).

Understood are plaintext, SASL PLAIN and SCRAM, and TLS with a trust store in PEM; all else about security is refused,
because a connection that ignores it would not be the one that was asked for.
"""

import re
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

UNDERSTOOD = (
    "security.protocol",
    "sasl.mechanism",
    "sasl.jaas.config",
    "ssl.truststore.location",
    "ssl.truststore.type",
    "ssl.endpoint.identification.algorithm",
)
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
CONTINUED = re.compile(r"(?<!\\)((?:\\\\)*)\\\r?\n[ \t]*")
"""A line's end after an odd number of backslashes."""
JAAS_OPTION = re.compile(r'(\w+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^\s;"]+))')
ESCAPE = re.compile(r"\\(.)")


class NotUnderstood(Exception):
    """The file asks for something that the adapters in Python cannot do; the text says what."""


@dataclass(frozen=True)
class Security:
    """How clients connect.

    :param authorities: PEM file of those that may sign a broker's certificate; None for the system's.
    :param verify_host: Whether the certificate must name the broker.
    """

    protocol: str = "PLAINTEXT"
    mechanism: str | None = None
    username: str | None = None
    password: str | None = None
    authorities: str | None = None
    verify_host: bool = True

    def context(self) -> ssl.SSLContext | None:
        """For libraries that take Python's own; None where the connection is not encrypted."""
        if not self.protocol.endswith("SSL"):
            return None
        context = ssl.create_default_context(cafile=self.authorities)
        context.check_hostname = self.verify_host
        return context


def read_security(file: str | None) -> Security:
    """What the file says; plaintext without one. :raises NotUnderstood:"""
    if file is None:
        return Security()
    given = dict(_pairs(Path(file).read_text(encoding="utf-8")))
    _refuse_what_is_unknown(given)
    options = JAAS_OPTION.findall(given.get("sasl.jaas.config", ""))
    login = {name: ESCAPE.sub(r"\1", quoted) or word for name, quoted, word in options}
    store = given.get("ssl.truststore.location")
    return Security(
        protocol=given.get("security.protocol", "PLAINTEXT"),
        mechanism=given.get("sasl.mechanism"),
        username=login.get("username"),
        password=login.get("password"),
        authorities=None if store is None else str(Path(file).parent / store),
        verify_host=given.get("ssl.endpoint.identification.algorithm", "https") != "",
    )


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Names and values, where ``=`` separates them, as ``java.util.Properties`` reads them."""
    for line in CONTINUED.sub(r"\1", text).splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith(("#", "!")):
            yield name.rstrip(), ESCAPE.sub(r"\1", value.lstrip())


def _refuse_what_is_unknown(given: dict[str, str]) -> None:
    for name in given:
        if name.startswith(("security.", "sasl.", "ssl.")) and name not in UNDERSTOOD:
            raise NotUnderstood(f"this adapter has nothing for {name}")
    if (mechanism := given.get("sasl.mechanism", "PLAIN")) not in MECHANISMS:
        raise NotUnderstood(f"this adapter logs in by {', '.join(MECHANISMS)}, not by {mechanism}")
    if (form := given.get("ssl.truststore.type", "PEM")) != "PEM":
        raise NotUnderstood(f"this adapter reads a trust store in PEM, not {form}")
