"""What the checks share, made once: the partitions, the log with its segments, every transaction, the close look."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from harness.judge.frames.fence_index import fences
from harness.judge.frames.record_audit import RecordAudit
from harness.judge.frames.segments import segmented
from harness.judge.frames.transactions import Census, census, transactions
from harness.judge.partitions import HistoryPartitions, load_partitions
from harness.spark.history.history_frames import History
from harness.spark.session.cached_frames import CachedFrames


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeContext:
    """A history made ready.

    :param log: See :mod:`harness.judge.frames.segments`.
    :param transactions: See :mod:`harness.judge.frames.transactions`.
    :param close: The suspects' records; None where nothing is suspected.
    :param keep: Keeps rows in memory or on disk as long as the scene lasts.
    """

    history: History
    ground: HistoryPartitions
    log: DataFrame
    transactions: DataFrame
    census: Census
    close: RecordAudit | None
    keep: Callable[[DataFrame], DataFrame]

    @property
    def operations(self) -> DataFrame:
        """The table of operations."""
        return self.history.tables["operations"]

    def right(self, records: DataFrame) -> DataFrame:
        """``records`` of the committed log (with txn, place and offset) without those that are anomalies themselves."""
        return records if self.close is None else self.close.without_anomalies(records)


@contextmanager
def judge_context(history: History) -> Iterator[JudgeContext]:
    """Make everything ready; what is kept in memory or on disk is let go at the end of the block."""
    keeping = CachedFrames()
    keep = keeping.keep
    try:
        surveyed = load_partitions(history)
        ground = replace(surveyed, rows=keep(surveyed.rows))
        operations = history.tables["operations"]
        fenced = keep(fences(operations))
        log = keep(segmented(history.tables["log"], ground))
        rows = keep(transactions(operations, log, fenced))
        counted = census(rows)
        suspects = rows.where("suspect AND txn IS NOT NULL")
        close = RecordAudit.at(operations, log, rows, suspects, fenced, ground, keep) if counted.suspects else None
        yield JudgeContext(
            history=history, ground=ground, log=log, transactions=rows, census=counted, close=close, keep=keep
        )
    finally:
        keeping.let_go()
