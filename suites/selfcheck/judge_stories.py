"""Tiny histories for the judge, told event by event; each has names of its own, so that many are judged at once.

A story is sound until it is told otherwise: what is written is appended to the log, and at the end every reader is
given what a sound broker would show it.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from harness.history.chronicle import TABLES
from harness.history.codec import to_json
from harness.history.operation import (
    Level,
    LogRecord,
    Operation,
    Outcome,
    PartitionEnd,
    Read,
    ReaderEnd,
    Value,
    Verb,
)
from harness.spark.history import History
from harness.spark.seal import complete
from harness.spark.tables import schema

DONE, REFUSED, UNSURE = Outcome.DONE, Outcome.REFUSED, Outcome.UNSURE
FENCED = 90


@dataclass(slots=True, kw_only=True)
class Story:
    """One story. Transactions, actors and partitions are told by small numbers and names, which become its own."""

    name: str
    number: int
    events: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in TABLES})
    readers: tuple[str, ...] = ("wire", "spark")
    _operations: int = 0

    @property
    def topic(self) -> str:
        """The story's topic."""
        return f"topic-{self.number}"

    def txn(self, number: int) -> int:
        """A transaction's number in the history."""
        return self.number * 100 + number

    def actor(self, name: str) -> str:
        """An actor's name in the history."""
        return f"{name}-{self.number}"

    def pid(self, number: int = 0) -> int:
        """A producer id in the history."""
        return self.number * 10 + number

    def tell(self, *events: Any) -> None:
        """Add events as they are."""
        for event in events:
            table = next(name for name, kind in TABLES.items() if kind is type(event))
            self.events[table].append(event)

    def operation(self, verb: Verb, actor: str = "a", outcome: Outcome = DONE, **more: Any) -> Operation:
        """An operation, after all those before."""
        self._operations += 1
        number = self.number * 1_000 + self._operations
        if outcome is REFUSED:
            more.setdefault("error", FENCED)
        given: dict[str, Any] = {
            "client": "wire-v1",
            "transactional_id": f"id-{self.number}",
            "started": number * 10.0,
            "ended": number * 10.0 + 5,
            **more,
        }
        operation = Operation(
            number=number,
            actor=self.actor(actor),
            verb=verb,
            outcome=outcome,
            **given,
        )
        self.tell(operation)
        return operation

    def init(self, actor: str = "a", epoch: int = 0, pid: int = 0, **more: Any) -> Operation:
        """InitProducerId."""
        return self.operation("init", actor, producer_id=self.pid(pid), epoch=epoch, **more)

    def begin(self, txn: int, size: int = 1, actor: str = "a") -> None:
        """Begin."""
        self.operation("begin", actor, txn=self.txn(txn), size=size)

    def produce(
        self,
        txn: int,
        ordinal: int = 0,
        *,
        size: int = 1,
        at: int = 0,
        actor: str = "a",
        payload: str = "",
        epoch: int = 0,
        outcome: Outcome = DONE,
        log: bool | None = None,
        **more: Any,
    ) -> Operation:
        """Produce one record; it is in the log when the outcome says so, or as ``log`` says."""
        appended = outcome is DONE if log is None else log
        value = Value(txn=self.txn(txn), ordinal=ordinal, size=size, payload=payload)
        offset = self.append(str(value), at=at, epoch=epoch) if appended else None
        return self.operation(
            "produce",
            actor,
            outcome,
            txn=value.txn,
            ordinal=ordinal,
            size=size,
            payload=payload,
            topic=self.topic,
            partition=at,
            offset=offset if outcome is DONE else None,
            epoch=epoch,
            **more,
        )

    def append(self, value: str | None, *, at: int = 0, epoch: int = 0, pid: int = 0, control: Any = None) -> int:
        """Append a record (or a marker) to a partition's log; its offset."""
        offset = len([row for row in self.events["log"] if row.partition == at])
        self.tell(
            LogRecord(
                topic=self.topic,
                partition=at,
                offset=offset,
                batch_offset=offset,
                producer_id=self.pid(pid),
                epoch=epoch,
                sequence=-1 if control else 0,
                transactional=True,
                control=control,
                value=value,
            )
        )
        return offset

    def marker(self, control: str = "COMMIT", *at: int, epoch: int = 0) -> None:
        """Markers on the partitions ``at`` (partition 0 when none is named)."""
        for partition in at or (0,):
            self.append(None, at=partition, control=control, epoch=epoch)

    def commit(
        self, txn: int, *at: int, actor: str = "a", outcome: Outcome = DONE, control: str | None = "COMMIT", **more: Any
    ) -> None:
        """EndTxn(commit), and the markers that it leads to (none for ``control=None``)."""
        self.operation("commit", actor, outcome, txn=self.txn(txn), **more)
        if control:
            self.marker(control, *at)

    def abort(self, txn: int, *at: int, actor: str = "a", control: str | None = "ABORT", **more: Any) -> None:
        """EndTxn(abort), likewise."""
        self.operation("abort", actor, txn=self.txn(txn), **more)
        if control:
            self.marker(control, *at)

    def whole(self, txn: int, *at: int, commit: bool = True, actor: str = "a") -> None:
        """A transaction with one record on each of the partitions."""
        places = at or (0,)
        self.begin(txn, len(places), actor)
        for ordinal, place in enumerate(places):
            self.produce(txn, ordinal, size=len(places), at=place, actor=actor)
        (self.commit if commit else self.abort)(txn, *dict.fromkeys(places), actor=actor)

    def end(self, *, readers: Sequence[str] | None = None, lso: Mapping[int, int] | None = None) -> None:
        """Settle: partitions tell their ends, and every reader is given what is committed below the LSO."""
        for partition in sorted({row.partition for row in self.events["log"]}):
            rows = [row for row in self.events["log"] if row.partition == partition]
            shown, stable = committed_below_stable(rows)
            stable = (lso or {}).get(partition, stable)
            self.tell(
                PartitionEnd(
                    at=9e9,
                    topic=self.topic,
                    partition=partition,
                    log_start_offset=0,
                    high_watermark=len(rows),
                    last_stable_offset=stable,
                    leader=1,
                ),
                Level(
                    at=9e9 + 1,
                    topic=self.topic,
                    partition=partition,
                    high_watermark=len(rows),
                    last_stable_offset=stable,
                ),
            )
            for reader in self.readers if readers is None else readers:
                self.tell(self.came_to(reader, partition, stable, len(rows)))
                self.tell(*(self.read(reader, row.offset, row.value or "", partition) for row in shown))

    def read(self, reader: str, offset: int, value: str, at: int = 0) -> Read:
        """A read."""
        return Read(reader=f"{reader}-{self.number}", topic=self.topic, partition=at, offset=offset, value=value)

    def came_to(self, reader: str, at: int, end: int, wanted: int | None = None) -> ReaderEnd:
        """A reader's end; its kind is its name without a dash."""
        kind: Any = reader.partition("-")[0]
        return ReaderEnd(
            reader=f"{reader}-{self.number}",
            kind=kind,
            isolation="read_committed",
            topic=self.topic,
            partition=at,
            end_offset=end,
            wanted=wanted,
        )

    def value(self, txn: int, ordinal: int = 0, size: int = 1, payload: str = "") -> str:
        """The text of a value."""
        return str(Value(txn=self.txn(txn), ordinal=ordinal, size=size, payload=payload))

    def change(self, table: str, which: int, **fields: Any) -> None:
        """Change one event of a table."""
        self.events[table][which] = dataclasses.replace(self.events[table][which], **fields)


def committed_below_stable(rows: Sequence[LogRecord]) -> tuple[list[LogRecord], int]:
    """What a sound broker shows a read_committed reader of one partition, and its last stable offset."""
    open_, shown, pending = dict[int, int](), list[LogRecord](), dict[int, list[LogRecord]]()
    for row in rows:
        if row.control is None:
            pending.setdefault(row.producer_id, []).append(row)
            open_.setdefault(row.producer_id, row.offset)
            continue
        if row.control == "COMMIT":
            shown += pending.get(row.producer_id, [])
        pending.pop(row.producer_id, None)
        open_.pop(row.producer_id, None)
    stable = min(open_.values(), default=len(rows))
    return sorted((row for row in shown if row.offset < stable), key=lambda row: row.offset), stable


def history_of(spark: SparkSession, stories: Sequence[Story], folder: Path, missing: Sequence[str] = ()) -> History:
    """All stories as one history; its tables are written under ``folder``."""
    tables = {}
    for name in TABLES:
        events = [event for story in stories for event in story.events[name]]
        path = folder / f"{name}.jsonl"
        path.write_text("".join(to_json(event) + "\n" for event in events), encoding="utf-8")
        tables[name] = complete(name, spark.read.schema(schema(name)).json(str(path)))
    return History(spark=spark, tables=tables, missing=frozenset(missing), run={}, notes=())


Teller = Callable[[Story], Sequence[str]]
"""Tells a story and gives the anomalies that are to be named."""


def told_in(names: Mapping[str, Any], *, helpers: Sequence[str] = ()) -> tuple[Teller, ...]:
    """Every story of a module, out of its ``globals()``: the functions of its own but for the ``helpers``."""
    own = [one for one in names.values() if getattr(one, "__module__", "") == names["__name__"]]
    return tuple(one for one in own if callable(one) and one.__name__ not in helpers)
