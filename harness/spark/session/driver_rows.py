"""Small results of Spark collected in the driver, without the warnings of pyspark's own sockets."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from pyspark.sql import DataFrame, Row


@dataclass(slots=True)
class _NoSocketWarnings:
    """No warning of sockets that pyspark leaves to the garbage collector, while any thread collects rows.

    Filters of warnings belong to the process: the first thread sets them, the last one restores them.
    """

    threads: int = 0
    lock: Lock = field(default_factory=Lock)
    before: "warnings.catch_warnings[None]" = field(default_factory=warnings.catch_warnings)

    @contextmanager
    def ignored(self) -> Iterator[None]:
        with self.lock:
            self.threads += 1
            if self.threads == 1:
                self.before = warnings.catch_warnings()
                self.before.__enter__()
                warnings.simplefilter("ignore", ResourceWarning)
        try:
            yield
        finally:
            with self.lock:
                self.threads -= 1
                if not self.threads:
                    self.before.__exit__(None, None, None)


_NO_SOCKET_WARNINGS = _NoSocketWarnings()


def collect_rows(frame: DataFrame) -> Sequence[Row]:
    """All rows of a frame that is known to be small; several threads may call it."""
    with _NO_SOCKET_WARNINGS.ignored():  # pyspark leaves collect()'s socket to the collector
        return tuple(frame.collect())
