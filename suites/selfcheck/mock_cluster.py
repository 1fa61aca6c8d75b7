"""librdkafka's built-in mock cluster as a target: it takes transactions and shows everybody everything.

It writes markers when a transaction ends, but what it answers to Fetch and ListOffsets knows nothing of them
(``rdkafka_mock_handlers.c``): the list of aborted transactions is empty, and the last stable offset is the end of the
log. So a read_committed consumer is shown aborted and open records alike, and the judge must say so on every run of the
self-check.
"""

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from confluent_kafka import Producer
from crc32c import crc32c

from harness.chaos.lookout import Lookout, Place
from harness.chaos.raw_log import Raw, partition_end
from harness.clients.adapters import ADAPTERS
from harness.clients.librdkafka.whole import Delivered, read_committed
from harness.clients.port import ClientOptions
from harness.clients.recording import RecordingClient
from harness.clock import RunClock
from harness.cluster.topology import Address
from harness.history.chronicle import CHAOS_FORMAT, Chronicle
from harness.history.operation import Level, Read, ReaderEnd
from harness.history.recorder import Unrecorded
from harness.wire.client import WireClient
from harness.wire.records import LogBatch
from harness.wire.verbs.fetch_log import FetchLog, FetchLogResult

BROKERS = 3
READER = "librdkafka"
UNASKED = ("producers", "transactions", "offsets", "faults", "phases")
"""Tables of what the mock cannot be asked, or what was not done to it; left out, so that nothing is made of them."""
BASE_OFFSET, LENGTH, CHECKSUM, CHECKED = 0, 8, 17, 21
"""Where things are in a record batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MockLog:
    """A stretch of the mock's log; the mock leaves out the checksum of its markers, which is put in on arrival."""

    api: ClassVar[str] = "Fetch"
    fetch: FetchLog

    def build(self, version: int) -> Any:
        """As any client asks."""
        return self.fetch.build(version)

    def read(self, response: Any) -> FetchLogResult:
        """The answer, every batch with its checksum."""
        (topic,) = response.responses
        (partition,) = topic.partitions
        partition = replace(partition, records=checked(partition.records or b""))
        whole = replace(response, responses=(replace(topic, partitions=(partition,)),))
        return self.fetch.read(whole)


def checked(log: bytes) -> bytes:
    """The batches, each with the checksum of what it says."""
    batches = bytearray(log)
    start = BASE_OFFSET
    while start < len(batches):
        end = start + LENGTH + 4 + struct.unpack_from(">i", batches, start + LENGTH)[0]
        struct.pack_into(">I", batches, start + CHECKSUM, crc32c(bytes(batches[start + CHECKED : end])))
        start = end
    return bytes(batches)


@dataclass(slots=True, kw_only=True)
class Play:
    """Transactions on the mock cluster, recorded as those of a chaos run are."""

    folder: Path
    brokers: Mapping[int, Address]
    clock: RunClock = field(default_factory=RunClock)
    topic: str = "accounts"
    chronicle: Chronicle = field(init=False)
    _clients: list[RecordingClient] = field(default_factory=list)
    _txns: int = 0

    def __post_init__(self) -> None:
        """The history begins."""
        self.chronicle = Chronicle(self.folder / "history")

    def client(self, transactional_id: str) -> RecordingClient:
        """A librdkafka client, initialised."""
        options = ClientOptions(
            actor=f"actor-{len(self._clients)}",
            lane="victim",
            bootstrap={node: str(address) for node, address in self.brokers.items()},
            transactional_id=transactional_id,
        )
        recording = RecordingClient(
            client=ADAPTERS["librdkafka"].open(options),
            actor=options.actor,
            transactional_id=transactional_id,
            clock=self.clock,
            chronicle=self.chronicle,
        )
        self._clients.append(recording)
        assert recording.init().done
        return recording

    def write(self, client: RecordingClient, partitions: Sequence[int]) -> int:
        """A transaction's records, all acknowledged; it is left open. Its number."""
        self._txns += 1
        assert client.begin(self._txns, len(partitions)).done
        for partition in partitions:
            assert client.produce(self.topic, partition, "x").done
        return self._txns

    def end(self) -> None:
        """Read the mock's partitions raw and as a read_committed client; the history is complete."""
        for client in self._clients:
            client.close()
        lookout = self._lookout()
        raws = [self._raw(lookout, (self.topic, partition)) for partition in range(BROKERS)]
        lookout.close()
        for raw in raws:
            self.chronicle.write(raw.end, raw.level, *raw.records())
        self._read({(raw.end.topic, raw.end.partition): raw.end.high_watermark for raw in raws})
        self.chronicle.close()
        for table in UNASKED:
            (self.folder / "history" / f"{table}.jsonl").unlink()
        run = {"kind": "chaos", "format": CHAOS_FORMAT, "target": "librdkafka's mock cluster"}
        (self.folder / "run.json").write_text(json.dumps(run), encoding="utf-8")

    def _lookout(self) -> Lookout:
        """Believes all that the mock offers, save Metadata 9 and above, where an answer has a byte too many."""
        client = WireClient(
            actor="lookout", lane="observer", addresses=self.brokers, clock=self.clock, recorder=Unrecorded()
        )
        offered = {node: client.offered(node) for node in self.brokers}
        client.close()
        able = {node: replace(each, apis={**each.apis, "Metadata": (0, 8)}) for node, each in offered.items()}
        knowing = WireClient(
            actor="lookout",
            lane="observer",
            addresses=self.brokers,
            clock=self.clock,
            recorder=Unrecorded(),
            offered=able,
        )
        return Lookout(client=knowing, brokers=tuple(self.brokers))

    def _raw(self, lookout: Lookout, place: Place) -> Raw:
        end = partition_end(lookout, place, self.clock, 3.0)
        batches: list[LogBatch] = []
        position = level = 0
        while position < end.high_watermark:
            fetched = lookout.at_leader(
                place, MockLog(fetch=FetchLog(topic=place[0], partition=place[1], offset=position)), cap=12
            )
            assert fetched.next_offset > position
            position, level = fetched.next_offset, fetched.last_stable_offset
            batches += fetched.batches
        told = Level(
            at=self.clock.now(),
            topic=place[0],
            partition=place[1],
            high_watermark=end.high_watermark,
            last_stable_offset=level,
        )
        return Raw(end=end, level=told, batches=tuple(batches), still=True)

    def _read(self, wanted: Mapping[Place, int]) -> None:
        shown: list[Delivered] = []
        bootstrap = ",".join(map(str, self.brokers.values()))
        ends = read_committed(bootstrap, wanted, within=5.0, deliver=shown.extend)
        for position, (topic, partition, offset, value) in enumerate(shown):
            self.chronicle.write(
                Read(reader=READER, topic=topic, partition=partition, offset=offset, value=value, position=position)
            )
        for (topic, partition), end in ends.items():
            self.chronicle.write(
                ReaderEnd(
                    reader=READER,
                    kind="librdkafka",
                    isolation="read_committed",
                    topic=topic,
                    partition=partition,
                    end_offset=end,
                    wanted=wanted[topic, partition],
                )
            )


@contextmanager
def mock_cluster(folder: Path) -> Iterator[Play]:
    """A mock cluster of three brokers, which lives in this process for the length of the block."""
    owner = Producer({"test.mock.num.brokers": BROKERS, "log_level": 0})
    known = owner.list_topics(timeout=10).brokers.values()
    brokers = {broker.id: Address(broker.host, broker.port) for broker in known}
    try:
        yield Play(folder=folder, brokers=brokers)
    finally:
        del owner
