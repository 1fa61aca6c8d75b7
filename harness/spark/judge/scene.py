"""What the checks share, made once: the partitions, the log with its segments, every transaction, the close look."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from harness.spark.history import History
from harness.spark.judge.close_look import CloseLook
from harness.spark.judge.fencing import fences
from harness.spark.judge.ground import Ground, survey
from harness.spark.judge.segments import segmented
from harness.spark.judge.transactions import Census, census, transactions
from harness.spark.keeping import Keeping


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A history made ready.

    :param log: See :mod:`harness.spark.judge.segments`.
    :param transactions: See :mod:`harness.spark.judge.transactions`.
    :param close: The suspects' records; None where nothing is suspected.
    :param keep: Keeps rows in memory or on disk as long as the scene lasts.
    """

    history: History
    ground: Ground
    log: DataFrame
    transactions: DataFrame
    census: Census
    close: CloseLook | None
    keep: Callable[[DataFrame], DataFrame]

    @property
    def operations(self) -> DataFrame:
        """The table of operations."""
        return self.history.tables["operations"]

    def right(self, records: DataFrame) -> DataFrame:
        """``records`` of the committed log (with txn, place and offset) without those that are anomalies themselves."""
        return records if self.close is None else self.close.without_anomalies(records)


@contextmanager
def scene(history: History) -> Iterator[Scene]:
    """Make everything ready; what is kept in memory or on disk is let go at the end of the block."""
    keeping = Keeping()
    keep = keeping.keep
    try:
        surveyed = survey(history)
        ground = replace(surveyed, rows=keep(surveyed.rows))
        operations = history.tables["operations"]
        fenced = keep(fences(operations))
        log = keep(segmented(history.tables["log"], ground))
        rows = keep(transactions(operations, log, fenced))
        counted = census(rows)
        suspects = rows.where("suspect AND txn IS NOT NULL")
        close = CloseLook.at(operations, log, rows, suspects, fenced, ground, keep) if counted.suspects else None
        yield Scene(history=history, ground=ground, log=log, transactions=rows, census=counted, close=close, keep=keep)
    finally:
        keeping.let_go()
