"""What several checks need of a history, computed once: its partitions, its log in segments, its transactions.

Partitions are known at once; everything else is computed when a query or a check first asks for it, so that checks
that need little of it may run meanwhile.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.evidence.history.anomalies import PROBE
from harness.judge.frames.fence_index import fences
from harness.judge.frames.record_audit import RecordAudit
from harness.judge.frames.segments import segmented
from harness.judge.frames.transaction_totals import TransactionTotals, totals_by_block, totals_of
from harness.judge.frames.transactions import transactions
from harness.judge.partitions import HistoryPartitions, load_partitions
from harness.spark.history.history_frames import History
from harness.spark.session.local_checkpoint import checkpointed
from harness.spark.session.parallel import Once, both


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeContext:
    """A history with the DataFrames that checks share.

    :param few: The operations that several checks look for among all: inits, and those of probes.
    :param log: See :mod:`harness.judge.frames.segments`.
    :param transactions: See :mod:`harness.judge.frames.transactions`.
    :param blocks: See :func:`harness.judge.frames.transaction_totals.totals_by_block`.
    :param counted: Their :attr:`totals` and :attr:`audit`.
    """

    history: History
    partitions: HistoryPartitions
    few: DataFrame
    log: DataFrame
    transactions: DataFrame
    blocks: DataFrame
    counted: Once[tuple[TransactionTotals, RecordAudit | None]]

    @classmethod
    def of(cls, history: History) -> "JudgeContext":
        """Read the history as far as all checks need it."""
        operations = history.tables["operations"]
        partitions, (few, fenced) = both(partial(_partitions, history), partial(_few_and_fences, operations))
        log = checkpointed(segmented(history.tables["log"], partitions))
        rows = checkpointed(transactions(operations, log, fenced))
        blocks = checkpointed(totals_by_block(rows))
        suspected = partial(RecordAudit.of, operations, log, rows, fenced, partitions)
        counted = Once(partial(_counted, blocks, suspected))
        return cls(
            history=history, partitions=partitions, few=few, log=log, transactions=rows, blocks=blocks, counted=counted
        )

    @property
    def totals(self) -> TransactionTotals:
        """Totals over all transactions."""
        return self.counted.get()[0]

    @property
    def audit(self) -> RecordAudit | None:
        """The suspected transactions, record by record; None where none is suspected."""
        return self.counted.get()[1]

    @property
    def tables(self) -> Mapping[str, DataFrame]:
        return self.history.tables

    @property
    def operations(self) -> DataFrame:
        return self.history.tables["operations"]

    @property
    def inits(self) -> DataFrame:
        """The operations that are inits, whatever became of them."""
        return self.few.where("verb = 'init'")

    def without_anomalies(self, records: DataFrame) -> DataFrame:
        """``records`` of the committed log (with partition_id and offset) but for those that have an anomaly."""
        return records if self.audit is None else self.audit.without_anomalies(records)


def _partitions(history: History) -> HistoryPartitions:
    loaded = load_partitions(history)
    return replace(loaded, rows=checkpointed(loaded.rows))


def _few_and_fences(operations: DataFrame) -> tuple[DataFrame, DataFrame]:
    few = checkpointed(operations.where((F.col("verb") == "init") | F.col("actor").startswith(PROBE)))
    return few, checkpointed(fences(few))


def _counted(blocks: DataFrame, audit: Callable[[], RecordAudit]) -> tuple[TransactionTotals, RecordAudit | None]:
    totals = totals_of(blocks)
    return totals, audit() if totals.suspects else None
