"""A broker of a few lines behind a gate, and callers in front of it: what tests of the gate play with."""

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field

from harness.cluster.topology import Address
from harness.gate.gate import Gate, open_gate
from harness.wire.frames import encode
from harness.wire.records import NewBatch
from harness.wire.relayed import Heading, errors_in, forged_response, heading, opened_response, written_response
from harness.wire.verb import Result, Verb
from harness.wire.verbs.end_txn import EndTxn
from harness.wire.verbs.init_producer_id import InitProducerId
from harness.wire.verbs.produce import PartitionBatch, Produce

PATIENCE = 5.0

Reply = Callable[[Heading], int]


def end(who: str = "t", *, committed: bool = True) -> EndTxn:
    """EndTxn of a transactional id."""
    return EndTxn(transactional_id=who, producer_id=7, producer_epoch=0, committed=committed)


def produce(who: str = "t", *, topic: str = "x", size: int = 1, epoch: int = 0) -> Produce:
    """Produce of one record, of so many bytes."""
    batch = NewBatch(values=("v" * size,), producer_id=7, producer_epoch=epoch, base_sequence=0)
    return Produce(transactional_id=who, batches=(PartitionBatch(topic=topic, partition=0, batch=batch),))


@dataclass
class Broker:
    """Answers every request with the error that ``reply`` gives, and remembers what came and which callers left."""

    listener: socket.socket
    reply: Reply
    asked: list[Heading] = field(default_factory=list)
    frames: list[bytes] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    connections: list[socket.socket] = field(default_factory=list)

    @property
    def address(self) -> Address:
        """Where it listens."""
        return Address(*self.listener.getsockname())

    @property
    def correlations(self) -> list[int]:
        """Correlation ids in the order of arrival."""
        return [head.correlation for head in self.asked]

    def accept(self) -> None:
        """Take callers until the listener ends."""
        with suppress(OSError):
            while True:
                connected, _ = self.listener.accept()
                self.connections.append(connected)
                number = len(self.connections)
                threading.Thread(target=self._serve, args=(number, connected), daemon=True).start()

    def _serve(self, number: int, connected: socket.socket) -> None:
        with suppress(OSError), closing(connected):
            while frame := read_frame(connected):
                head = heading(frame)
                self.frames.append(frame)
                self.asked.append(head)
                answer = written_response(head, answer_of(head, self.reply(head)))
                connected.sendall(struct.pack(">i", len(answer)) + answer)
        self.left.append(number)


def answer_of(head: Heading, error: int) -> object:
    """An answer to Produce or any API whose answer has one error code."""
    if head.api == "Produce":
        part = {"index": 0, "error_code": error, "base_offset": 5}
        return forged_response(head, responses=({"name": "x", "partition_responses": (part,)},))
    return forged_response(head, error_code=error, producer_id=7, producer_epoch=len(head.client_id))


@dataclass
class Caller:
    """One client's connection to the gate."""

    connected: socket.socket
    sent: dict[int, Heading] = field(default_factory=dict)

    def ask(self, correlation: int, verb: Verb[Result], version: int, client_id: str = "who") -> None:
        """Send a request."""
        raw = encode(verb.build(version), correlation, client_id)
        self.sent[correlation] = heading(raw[4:])
        self.connected.sendall(raw)

    def answer(self) -> tuple[int, int] | None:
        """Correlation id and first error (else 0) of the next answer; None when the connection has ended.

        :raises TimeoutError: When nothing comes.
        """
        frame = read_frame(self.connected)
        if not frame:
            return None
        correlation = struct.unpack_from(">i", frame)[0]
        answer = opened_response(self.sent[correlation], frame)
        return correlation, next((error for error in errors_in(answer) if error), 0)

    def silent(self) -> bool:
        """Whether nothing has come up to now (asked after something later came to be known)."""
        self.connected.setblocking(False)
        try:
            return self.connected.recv(1, socket.MSG_PEEK) is None
        except BlockingIOError:
            return True
        finally:
            self.connected.settimeout(PATIENCE)


@dataclass
class Led:
    """Proxies of which nothing is but where they lead: what the gate asks of the cluster's links."""

    leads: dict[str, Address]
    doorstep: str = "127.0.0.1"

    def upstream(self, proxy: str) -> Address:
        """Where it leads."""
        return self.leads[proxy]

    def redirect(self, proxy: str, address: Address) -> None:
        """Lead elsewhere."""
        self.leads[f"{proxy} at first"] = self.leads[proxy]
        self.leads[proxy] = address

    def restore(self, proxy: str) -> None:
        """Lead back."""
        self.leads[proxy] = self.leads.pop(f"{proxy} at first", self.leads[proxy])


@dataclass
class Bench:
    """A broker, the gate before it, and the callers."""

    broker: Broker
    gate: Gate
    led: Led
    proxy: str
    callers: list[Caller] = field(default_factory=list)

    def call(self) -> Caller:
        """Another connection through the gate."""
        to = self.led.leads[self.proxy]
        made = Caller(socket.create_connection((to.host, to.port), PATIENCE))
        self.callers.append(made)
        return made


def read_frame(connected: socket.socket) -> bytes:
    """A frame without its length; no bytes when the connection has ended."""
    with suppress(ConnectionError):
        prefix = connected.recv(4, socket.MSG_WAITALL)
        if len(prefix) == 4:
            return connected.recv(struct.unpack(">i", prefix)[0], socket.MSG_WAITALL)
    return b""


@contextmanager
def opened() -> Iterator[tuple[Gate, Led]]:
    """A gate, and where its proxies lead."""
    led = Led({})
    gate = open_gate(led)  # type: ignore[arg-type]  # it asks no more of links than this
    try:
        yield gate, led
    finally:
        gate.close()


@contextmanager
def bench(gate: Gate, led: Led, reply: Reply = lambda _: 0) -> Iterator[Bench]:
    """A broker behind the gate, by a proxy of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        broker = Broker(listener, reply)
        thread = threading.Thread(target=broker.accept, daemon=True)
        thread.start()
        proxy = f"lane-victim-{len(led.leads)}"
        led.leads[proxy] = broker.address
        made = Bench(broker, gate, led, proxy)
        try:
            gate.through(proxy)
            yield made
        finally:
            for caller in made.callers:
                caller.connected.close()
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            thread.join(PATIENCE)


def init(who: str = "t") -> InitProducerId:
    """InitProducerId; the broker hands out as epoch the length of the client id, so that a test can choose it."""
    return InitProducerId(transactional_id=who)
