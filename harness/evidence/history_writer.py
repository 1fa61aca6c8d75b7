"""A chaos run's history on disk: one table an event kind, a line of JSON an event, and Parquet when it is sealed.

::

    run.json                      what was run: kind ``chaos``, scenario, seed, target, phases (written whole)
    history/<table>.jsonl         events in the order in which they ended, flushed line by line
    history/<table>.parquet/      the same, typed, made by the seal (see :mod:`harness.spark.history.seal`)
    SEALED                        there once nothing but a judge may write any more

A history written by another tool needs ``run.json`` and the tables that it has, as JSON lines or as Parquet: a column
is a field of the table's dataclass, times are run-clock milliseconds, absent optional fields are null. A run that is
killed loses at most the torn last line of a table, which the reader drops and reports.
"""

import dataclasses
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path

from harness.evidence.json_codec import to_json
from harness.evidence.operation import (
    FaultWindow,
    GroupOffset,
    KeptTransaction,
    LogRecord,
    OpenProducer,
    Operation,
    PartitionEnd,
    Phase,
    Read,
    ReaderEnd,
    WatermarkSample,
)

CHAOS_FORMAT = 1
"""Version of the tables; a judge refuses another one. Stands in ``run.json`` as ``format``."""

TABLES: Mapping[str, type] = {
    "operations": Operation,
    "faults": FaultWindow,
    "phases": Phase,
    "levels": WatermarkSample,
    "log": LogRecord,
    "reads": Read,
    "readers": ReaderEnd,
    "partitions": PartitionEnd,
    "producers": OpenProducer,
    "transactions": KeptTransaction,
    "offsets": GroupOffset,
}
"""Every table by name, with the dataclass whose fields are its columns."""

REQUIRED = ("operations", "log", "partitions")
"""Without these nothing can be judged; another table that is missing leaves its checks not exercised."""

TABLE_OF: Mapping[type, str] = {kind: name for name, kind in TABLES.items()}


@dataclass(slots=True)
class HistoryWriter:
    """The one writer of a run's history; safe to call from any thread."""

    folder: Path
    _streams: dict[str, TextIOWrapper] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _operations: int = 0

    def __post_init__(self) -> None:
        """Every table is there from the beginning, so that an empty one is told from a missing one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in TABLES:
            self._streams[name] = (self.folder / f"{name}.jsonl").open("a", encoding="utf-8")

    def next_operation(self) -> int:
        """A fresh operation number, taken when the operation begins."""
        with self._lock:
            self._operations += 1
            return self._operations

    def write(self, *events: object) -> None:
        """Append events, each to its table, and hand them to the operating system: kill -9 of us cannot lose them."""
        lines: dict[str, list[str]] = {}
        for event in events:
            lines.setdefault(TABLE_OF[type(event)], []).append(to_json(event) + "\n")
        with self._lock:
            for name, batch in lines.items():
                stream = self._streams[name]
                if not stream.closed:
                    stream.write("".join(batch))
                    stream.flush()

    def close(self) -> None:
        """End the tables; events after this are dropped, since the folder is about to be sealed."""
        with self._lock:
            for stream in self._streams.values():
                stream.close()


def columns(table: str) -> Mapping[str, object]:
    """The columns of a table, by name, with their Python types."""
    return {each.name: each.type for each in dataclasses.fields(TABLES[table])}
