"""A broker of a few lines that answers EndTxn as a test wants, a client of it, and a recorder in memory."""

import itertools
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from harness.base.addresses import Address
from harness.base.clock import RunClock
from harness.base.kafka_error import KafkaError
from harness.evidence.exchange import Exchange
from harness.wire.requests.transactions.end_txn import EndTxn
from harness.wire.wire_client import WireClient

END_TXN = 26
API_VERSIONS = 18
END = EndTxn(transactional_id="who", producer_id=4711, producer_epoch=0, committed=True)
OLD_BROKER = struct.pack(">hi", 0, 4) + struct.pack(">hhh", 18, 0, 2) + struct.pack(">hhh", 26, 0, 3)
OLD_BROKER += struct.pack(">hhh", 66, 0, 0) + struct.pack(">hhh", 10, 0, 2)
UNSUPPORTED = struct.pack(">hi", KafkaError.UNSUPPORTED_VERSION, 0)


def ended(error: int) -> bytes:
    """The answer to EndTxn v3, which is flexible: a header tag count, throttle time, error, a tag count."""
    return b"\0" + struct.pack(">ih", 0, error) + b"\0"


GOOD = ended(0)

Reply = Callable[["Link", int], None]


@dataclass
class Recording:
    """A recorder in memory."""

    exchanges: list[Exchange] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def next_number(self) -> int:
        return next(self.numbers)

    def record(self, exchange: Exchange) -> None:
        self.exchanges.append(exchange)

    def of(self, api: str) -> list[Exchange]:
        return [exchange for exchange in self.exchanges if exchange.api == api]


@dataclass
class Link:
    """The broker's end of one connection."""

    connected: socket.socket
    asked: list[int]

    def answer(self, correlation: int, body: bytes) -> None:
        self.connected.sendall(struct.pack(">ii", 4 + len(body), correlation) + body)

    def close(self) -> None:
        self.connected.shutdown(socket.SHUT_RDWR)


def serve(link: Link, reply: Reply) -> None:
    """Answer ApiVersions as an old broker would (v0 only), and leave EndTxn to ``reply``."""
    with suppress(OSError, struct.error), link.connected:
        while True:
            size = struct.unpack(">i", link.connected.recv(4, socket.MSG_WAITALL))[0]
            key, version, correlation = struct.unpack_from(">hhi", link.connected.recv(size, socket.MSG_WAITALL))
            link.asked.append(version)
            if key == API_VERSIONS:
                link.answer(correlation, OLD_BROKER if version == 0 else UNSUPPORTED)
            else:
                reply(link, correlation)


@contextmanager
def broker(reply: Reply) -> Iterator[tuple[Address, list[int]]]:
    """A broker at an address of its own; gives the address and the versions that it was asked at."""
    asked: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connected, _ = listener.accept()
                    threading.Thread(target=serve, args=(Link(connected, asked), reply), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield Address(*listener.getsockname()), asked
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(2)


@contextmanager
def talking_to(reply: Reply) -> Iterator[tuple[WireClient, Recording, list[int]]]:
    """A client of a broker that answers EndTxn with ``reply``."""
    recording = Recording()
    with broker(reply) as (address, asked):
        client = client_of(address, recording)
        yield client, recording, asked
        client.close()


def client_of(address: Address, recording: Recording) -> WireClient:
    return WireClient(
        actor="victim", lane="victim", addresses={1: address}, clock=RunClock(), recorder=recording, requirement="R-1"
    )


def well(link: Link, correlation: int) -> None:
    link.answer(correlation, GOOD)


def never(_link: Link, _correlation: int) -> None:
    pass


def hang_up(link: Link, _correlation: int) -> None:
    link.close()
