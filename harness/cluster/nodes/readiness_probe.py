"""Three questions to a Kafka in their oldest versions, enough to tell that it is ready.

Readiness must be known before any recording client exists, on every release and on a vendor's broker, so these few
bytes are laid out by hand and nothing else of Fencepost is needed. A question that gets no usable answer is None: a
broker that is starting refuses, closes, or answers that it is not there yet, and all of that means "not yet".
"""

import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.base.addresses import Address

METADATA, FIND_COORDINATOR, INIT_PRODUCER_ID, DESCRIBE_QUORUM = 3, 10, 22, 55
TRANSACTION = 1
PATIENCE = 5.0
TRANSACTION_TIMEOUT_MS = 60_000


@dataclass(slots=True)
class _Reader:
    """Walks through an answer."""

    rest: bytes
    at: int = field(default=0)

    def number(self, form: str) -> int:
        (value,) = struct.unpack_from(form, self.rest, self.at)
        self.at += struct.calcsize(form)
        return int(value)

    def text(self) -> str:
        length = max(self.number(">h"), 0)
        self.at += length
        return self.rest[self.at - length : self.at].decode()


def brokers(address: Address) -> Mapping[int, Address] | None:
    """The live brokers as the one at ``address`` lists them for that listener (Metadata v1)."""
    answer = _ask(address, METADATA, 1, struct.pack(">i", 0))
    return None if answer is None else _read_brokers(_Reader(answer))


def _read_brokers(answer: _Reader) -> Mapping[int, Address]:
    listed: dict[int, Address] = {}
    for _ in range(answer.number(">i")):
        node, host, port, _rack = answer.number(">i"), answer.text(), answer.number(">i"), answer.text()
        listed[node] = Address(host, port)
    return listed


def coordinator(address: Address, transactional_id: str) -> int | None:
    """The node that coordinates the transactional id, None while there is none (FindCoordinator v1).

    The first such question makes Kafka create ``__transaction_state``.
    """
    answer = _ask(address, FIND_COORDINATOR, 1, _text(transactional_id) + struct.pack(">b", TRANSACTION))
    if answer is None:
        return None
    reader = _Reader(answer)
    _throttle, error, _message, node = (reader.number(">i"), reader.number(">h"), reader.text(), reader.number(">i"))
    return None if error else node


def transaction_possible(address: Address, transactional_id: str) -> bool:
    """True when the id's coordinator hands out a producer id (InitProducerId v0)."""
    answer = _ask(address, INIT_PRODUCER_ID, 0, _text(transactional_id) + struct.pack(">i", TRANSACTION_TIMEOUT_MS))
    return answer is not None and struct.unpack_from(">ih", answer)[1] == 0


def quorum_leads(address: Address) -> bool:
    """True when the broker reaches an active controller (DescribeQuorum v0, the oldest and already flexible)."""
    # One topic, __cluster_metadata, with partition 0; compact lengths are one more than the length.
    topic = b"__cluster_metadata"
    body = b"\x02" + bytes([len(topic) + 1]) + topic + b"\x02" + struct.pack(">i", 0) + b"\0\0\0"
    answer = _ask(address, DESCRIBE_QUORUM, 0, body, flexible=True)
    return answer is not None and struct.unpack_from(">h", answer, 1)[0] == 0


def _text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def _ask(address: Address, api: int, version: int, body: bytes, *, flexible: bool = False) -> bytes | None:
    """The answer's bytes after the correlation id, or None where there is none."""
    header = struct.pack(">hhi", api, version, 0) + _text("fencepost-probe") + (b"\0" if flexible else b"")
    request = header + body
    try:
        with socket.create_connection((address.host, address.port), PATIENCE) as connection:
            connection.sendall(struct.pack(">i", len(request)) + request)
            (size,) = struct.unpack(">i", _read(connection, 4))
            return _read(connection, size)[4:]
    except (OSError, EOFError):
        return None


def _read(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        part = connection.recv(size - len(received))
        if not part:
            raise EOFError("the broker closed the connection")
        received += part
    return received
