"""A history as lists of events: drawn from the model, read by readers after it has settled, written as a run folder.

Each has names and numbers of its own, so that thousands stand in one folder and are judged in one go.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from harness.history.chronicle import CHAOS_FORMAT, TABLE_OF, TABLES
from harness.history.codec import to_json
from harness.history.operation import (
    FaultWindow,
    GroupOffset,
    KeptTransaction,
    Level,
    LogRecord,
    OpenProducer,
    Operation,
    PartitionEnd,
    Phase,
    Read,
    ReaderEnd,
)
from suites.selfcheck.histories.broker import Broker, Place
from suites.selfcheck.histories.client import Doubts, Steps, World
from suites.selfcheck.histories.workloads import WORKLOADS, probe

TXNS = 10_000
"""Transaction numbers, operation numbers and producer ids of a history begin at its own multiple of this."""
READERS = ("wire", "librdkafka", "spark")


@dataclass(slots=True, kw_only=True)
class Synthetic:
    """One history. The lists are meant to be doctored; ``read_again`` makes the readers follow a doctored log.

    :param number: Its place among others in a folder; its names begin with ``h<number>.``.
    """

    number: int
    workload: str
    operations: list[Operation] = field(default_factory=list)
    log: list[LogRecord] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    readers: list[ReaderEnd] = field(default_factory=list)
    partitions: list[PartitionEnd] = field(default_factory=list)
    producers: list[OpenProducer] = field(default_factory=list)
    transactions: list[KeptTransaction] = field(default_factory=list)
    offsets: list[GroupOffset] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What its topics, actors, ids and groups begin with."""
        return named(self.number)

    def places(self) -> list[Place]:
        """Its partitions."""
        return [(end.topic, end.partition) for end in self.partitions]

    def events(self) -> Iterable[object]:
        """All events, for a run folder."""
        for table in (self.operations, self.log, self.reads, self.readers, self.partitions, self.producers):
            yield from table
        for more in (self.transactions, self.offsets, self.levels):
            yield from more

    def read_again(self) -> None:
        """The readers read the log as it is now; what actors read during the run stays."""
        names = {self.name + kind for kind in READERS}
        self.reads = [read for read in self.reads if read.reader not in names]
        shown = visible(self.log)
        for kind in READERS:
            self.reads += [
                Read(
                    reader=self.name + kind,
                    topic=record.topic,
                    partition=record.partition,
                    offset=record.offset,
                    value=str(record.value),
                    position=None if kind == "spark" else position,
                )
                for position, record in enumerate(shown)
            ]


def named(number: int) -> str:
    """The namespace of a history."""
    return f"h{number}."


def visible(log: Sequence[LogRecord]) -> list[LogRecord]:
    """The records of committed segments."""
    committed: set[tuple[str, int, int]] = set()
    shown: list[LogRecord] = []
    for record in reversed(log):
        segment = (record.topic, record.partition, record.producer_id)
        if record.control is not None:
            (committed.add if record.control == "COMMIT" else committed.discard)(segment)
        elif segment in committed:
            shown.append(record)
    return shown[::-1]


def drawn(workload: str, number: int, rng: Random, *, turns: int = 3, doubts: Doubts | None = None) -> Synthetic:
    """A sound history of a workload; ``turns`` is how many transactions each role tries."""
    name = named(number)
    topics = ("inputs", "outputs") if workload == "relay" else (workload,)
    places = [(name + topic, index) for topic in topics for index in range(2 if workload == "relay" else 3)]
    broker = Broker(rng=rng, places=places, next_id=number * TXNS)
    world = World(rng=rng, broker=broker, doubts=doubts or Doubts(), first=number * TXNS, name=name)
    _take_turns(rng, list(WORKLOADS[workload](world, turns)))
    world.late.clear()
    broker.settle()
    _take_turns(rng, [probe(world)])
    broker.settle()
    return _settled(world, number, workload)


def _take_turns(rng: Random, playing: list[Steps]) -> None:
    while playing:
        one = rng.choice(playing)
        if next(one, playing) is playing:
            playing.remove(one)


def _settled(world: World, number: int, workload: str) -> Synthetic:
    broker, name = world.broker, world.name
    made = Synthetic(number=number, workload=workload, operations=world.operations, reads=world.reads)
    made.log = [record for place in broker.places for record in broker.logs[place]]
    made.levels = world.levels
    for place in broker.places:
        _partition(made, world, place)
    made.transactions = [
        KeptTransaction(
            transactional_id=transactional_id,
            state=world.rng.choice(("Empty", "CompleteCommit", "CompleteAbort")),
            producer_id=kept.producer_id,
            epoch=kept.epoch,
            timeout_ms=10_000,
            started_ms=-1,
            partitions="",
        )
        for transactional_id, kept in broker.producing.items()
    ]
    if workload == "relay":
        group = f"{name}relay"
        made.offsets = [
            GroupOffset(
                group=group, topic=topic, partition=index, offset=broker.committed.get((group, topic, index), -1)
            )
            for topic, index in broker.places
        ]
    made.read_again()
    return made


def _partition(made: Synthetic, world: World, place: Place) -> None:
    (topic, index), end = place, len(world.broker.logs[place])
    made.partitions.append(
        PartitionEnd(
            at=world.now,
            topic=topic,
            partition=index,
            log_start_offset=0,
            high_watermark=end,
            last_stable_offset=end,
            leader=1 + index % 3,
        )
    )
    made.levels.append(Level(at=world.now, topic=topic, partition=index, high_watermark=end, last_stable_offset=end))
    made.producers += [
        OpenProducer(
            topic=topic,
            partition=index,
            producer_id=producer_id,
            epoch=0,
            transaction_start_offset=-1,
            last_timestamp_ms=0,
        )
        for producer_id in sorted({record.producer_id for record in world.broker.logs[place]})
    ]
    made.readers += [
        ReaderEnd(
            reader=made.name + kind,
            kind=kind,  # type: ignore[arg-type]
            isolation="read_committed",
            topic=topic,
            partition=index,
            end_offset=end,
            wanted=end,
            waited_ms=10.0,
        )
        for kind in READERS
    ]


def write_folder(folder: Path, histories: Iterable[Synthetic]) -> Path:
    """A run folder of all of them, with ``run.json`` and every table as JSON lines.

    :return: The folder.
    """
    (folder / "history").mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"format": CHAOS_FORMAT, "kind": "chaos", "scenario": "synthetic"}))
    streams = {table: (folder / "history" / f"{table}.jsonl").open("w", encoding="utf-8") for table in TABLES}
    try:
        for event in (*_frame(), *(event for history in histories for event in history.events())):
            streams[TABLE_OF[type(event)]].write(to_json(event) + "\n")
    finally:
        for stream in streams.values():
            stream.close()
    return folder


def _frame() -> Iterable[object]:
    """What all of them share: the run's phases, and a fault."""
    edges = (("calm", 0.0, 20.0), ("storm", 20.0, 80.0), ("heal", 80.0, 85.0), ("settle", 85.0, 90.0))
    yield from (Phase(name=name, started=started, ended=ended) for name, started, ended in edges)
    yield FaultWindow(
        name="one-way-cut", kind="network", where="b1-b2", started=20.0, ended=60.0, struck=3, how="bytes held"
    )
