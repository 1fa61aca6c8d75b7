"""Addresses of brokers, and the lanes on which clients reach them."""

import socket
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

Lane: TypeAlias = Literal["victim", "rival", "observer"]
"""A listener of every broker. Faults may be put on ``victim`` and ``rival``, never on ``observer``."""
LANES: tuple[Lane, ...] = get_args(Lane)


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """A host and a TCP port; ``str`` gives ``host:port``."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    def resolved(self) -> "Address":
        """With the host's IP address, so that two ways to write one address are equal; unchanged where it has none."""
        try:
            return Address(socket.gethostbyname(self.host), self.port)
        except OSError:
            return self

    @classmethod
    def parse(cls, text: str) -> "Address":
        """An address from ``host:port``; an IPv6 host may stand in brackets.

        >>> Address.parse("[::1]:9092")
        Address(host='::1', port=9092)
        """
        host, _, port = text.rpartition(":")
        return cls(host.strip("[]"), int(port))
