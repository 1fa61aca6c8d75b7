"""Small results of Spark brought to the driver, quietly."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from pyspark.sql import DataFrame, Row


@dataclass(slots=True)
class _Quiet:
    """No word about sockets that are left to the collector, as long as anyone asks Spark for rows.

    Filters of warnings belong to the process: the first thread to come sets them, the last to go puts them back.
    """

    within: int = 0
    lock: Lock = field(default_factory=Lock)
    before: "warnings.catch_warnings[None]" = field(default_factory=warnings.catch_warnings)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """For the length of the block."""
        with self.lock:
            self.within += 1
            if self.within == 1:
                self.before = warnings.catch_warnings()
                self.before.__enter__()
                warnings.simplefilter("ignore", ResourceWarning)
        try:
            yield
        finally:
            with self.lock:
                self.within -= 1
                if not self.within:
                    self.before.__exit__(None, None, None)


_QUIET = _Quiet()


def rows(frame: DataFrame) -> Sequence[Row]:
    """All rows of a frame that is known to be small; several threads may ask at once."""
    with _QUIET.kept():  # pyspark leaves collect()'s socket to the collector
        return tuple(frame.collect())
