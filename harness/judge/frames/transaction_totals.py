"""Totals over all transactions, and the epochs that their ends handed out: one pass over the transactions for both."""

from dataclasses import dataclass, fields

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from harness.judge.frames.different_values import bits_of_64
from harness.judge.frames.transactions import NEVER, wrote
from harness.spark.session.driver_rows import collect_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionTotals:
    """Totals over all transactions; counts."""

    transactions: int
    suspects: int
    mixed: int
    promised: int
    committed: int
    foreign: int
    open: int
    money: int
    relayed: int
    groups: int
    unsorted: int
    logged: int
    challenged: int
    defied: int


def ends_that_handed_out() -> Column:
    """An end of Transactions V2 hands out an epoch when there was something to end (KIP-890)."""
    return F.col("end_pid").isNotNull() & F.col("end_epoch").isNotNull() & wrote()


def epoch_block(epoch: str) -> Column:
    """Epochs are counted in blocks of 64."""
    return F.shiftright(epoch, 6)


def totals_by_block(rows: DataFrame) -> DataFrame:
    """The totals of transactions, a row a producer id and block of epochs that their ends handed out.

    pid and block (null: nothing was handed out), times (its transactions, each with an epoch that was handed out),
    epochs (which ones, see :func:`bits_of_64`), and the fields of :class:`TransactionTotals`.
    """
    handed = ends_that_handed_out()
    pid, block = F.when(handed, F.col("end_pid")), F.when(handed, epoch_block("end_epoch"))
    return rows.groupBy(pid.alias("pid"), block.alias("block")).agg(
        F.count("*").alias("times"),
        bits_of_64("end_epoch").alias("epochs"),
        *(total.alias(name) for name, total in _totals().items()),
    )


def _totals() -> dict[str, Column]:
    ours = F.col("txn").isNotNull()
    suspect = F.col("suspect") & ours
    counted = {
        "transactions": F.col("number").isNotNull(),
        "suspects": suspect,
        "mixed": suspect & (F.col("mixed") > 0),
        "promised": F.col("fate") > NEVER,
        "money": F.col("money") > 0,
        "groups": F.col("offsets") > 0,
        "logged": F.col("runs") > 0,
        "challenged": F.col("challenged"),
        "defied": F.col("defied"),
    }
    summed = {
        "committed": F.when(ours, F.col("committed")),
        "foreign": F.when(~ours, F.col("committed")),
        **{name: F.col(name) for name in ("open", "relayed", "unsorted")},
    }
    return {
        **{name: F.count(F.when(which, 1)) for name, which in counted.items()},
        **{name: F.sum(value) for name, value in summed.items()},
    }


def totals_of(blocks: DataFrame) -> TransactionTotals:
    """The totals over all blocks."""
    names = [field.name for field in fields(TransactionTotals)]
    (row,) = collect_rows(blocks.agg(*(F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in names)))
    return TransactionTotals(**row.asDict())
