"""Append-only files of JSON lines, and the one that a contract run's exchanges go to.

Every line is handed to the operating system before ``append`` returns, so that a run that is killed loses at most the
line that was being written. What lets a reader cope with such a line stands in :mod:`harness.evidence.json_lines`.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedWriter
from itertools import count
from pathlib import Path

from harness.evidence.exchange import Exchange
from harness.evidence.json_codec import to_json_lines


@dataclass(slots=True)
class Journal:
    """One file of JSON lines, opened for appending; safe to call from any thread."""

    path: Path
    _stream: BufferedWriter = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """The file is there from the beginning, so that an empty one differs from a missing one."""
        self._stream = self.path.open("ab")

    def append(self, *records: object) -> None:
        """Write a line for each record, all of them in one go; after :meth:`close` nothing is written."""
        lines = to_json_lines(records)
        with self._lock:
            if not self._stream.closed:
                self._stream.write(lines)
                self._stream.flush()

    def close(self) -> None:
        with self._lock:
            self._stream.close()


@dataclass(slots=True)
class ExchangeJournal:
    """The exchanges of a contract run: the :class:`harness.evidence.recorder.Recorder` that keeps them on disk."""

    path: Path
    _journal: Journal = field(init=False)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self._journal = Journal(self.path)

    def next_number(self) -> int:
        return next(self._numbers)

    def record(self, exchange: Exchange) -> None:
        self._journal.append(exchange)

    def close(self) -> None:
        self._journal.close()
