"""A chaos run's history on disk: a table for each kind of event, a line of JSON for each event, Parquet once sealed.

::

    run.json                      what was run: kind ``chaos``, scenario, seed, target, phases (written whole)
    history/<table>.jsonl         events in the order in which they ended, flushed line by line
    history/<table>.parquet/      the same, typed, made by the seal (see :mod:`harness.spark.history.seal`)
    SEALED                        there once nothing but a judge may write

A history written by another tool needs ``run.json`` and the tables that it has, as JSON lines or as Parquet: a column
is a field of the table's dataclass, times are run-clock milliseconds, absent optional fields are null. A run that is
killed loses at most the torn last line of a table, which the reader drops and reports.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from harness.evidence.history.operation import (
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
from harness.evidence.journal import Journal

CHAOS_FORMAT = 1
"""Version of the tables, in ``run.json`` as ``format``; a judge refuses another one."""

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
"""Tables without which nothing can be judged; where another is missing, its checks are NOT_EXERCISED."""


@dataclass(slots=True)
class HistoryJournal:
    """A chaos run's journals, one a table; safe to call from any thread."""

    folder: Path
    _journals: Mapping[type, Journal] = field(init=False)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        """Every table is there from the beginning, so that an empty one differs from a missing one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._journals = {kind: Journal(self.folder / f"{name}.jsonl") for name, kind in TABLES.items()}

    def next_operation(self) -> int:
        """A fresh operation number, from 1, taken when the operation begins."""
        return next(self._numbers)

    def write(self, *events: object) -> None:
        """Append events, each to its table; they are with the operating system when this returns."""
        by_table: dict[type, list[object]] = {}
        for event in events:
            by_table.setdefault(type(event), []).append(event)
        for kind, batch in by_table.items():
            self._journals[kind].append(*batch)

    def close(self) -> None:
        """End the tables; events after this are dropped, since the folder is about to be sealed."""
        for journal in self._journals.values():
            journal.close()
