"""Every transaction in one row, with whether it is suspected of an anomaly.

The comparison is coarse and quick: what was acknowledged and what is in the committed log are compared by count and by
the exclusive or of 64-bit hashes, one pass over each table. A sound transaction may be suspected; an unsound one must
always be. Which anomaly it is, if any, is found by :mod:`harness.judge.frames.record_audit`.
"""

from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from harness.judge.frames.different_values import bits_of_64, different_of_64
from harness.judge.frames.fence_index import with_fence
from harness.judge.frames.segments import COMMITTED, OPEN, record_hash

NEVER, DOUBTFUL, PROMISED = 0, 1, 2
"""A transaction's fate: its commit was never asked for or was refused, or its abort was done; its commit was unsure;
its commit was done."""


def transactions(operations: DataFrame, log: DataFrame, fences: DataFrame) -> DataFrame:
    """A row a transaction (txn null: all records that are none of ours), with ``suspect``.

    ``actor`` is a hash; ``number`` and ``upto`` are its first and last operation; ``committed`` and the like count
    records; ``end_pid`` and ``end_epoch`` are what its end handed out, where it was one of Transactions V2;
    ``challenged`` and ``defied``: it went on, and with success, after the init ``fence`` had fenced its producer.
    """
    rows = _requested(operations).join(_logged(log).hint("shuffle_hash"), "txn", "full")
    rows = with_fence(rows, fences, F.col("actor"))
    verdicts = {"suspect": _suspect(), "challenged": _fenced("tried_at"), "defied": _fenced("done_at") & wrote()}
    return rows.fillna(0, subset=list(COUNTS)).withColumns(verdicts).drop(*TEMPORARY)


COUNTS = (
    *("fate", "done", "done_x", "offsets", "committed", "committed_x", "open", "runs", "partitions", "mixed"),
    *("money", "amount", "relayed", "unsorted"),
)
"""Columns that are 0 where there is nothing."""


TEMPORARY = ("fenced_at", "tried_at", "done_at", "done_x", "committed_x", "partitions")


def _requested(operations: DataFrame) -> DataFrame:
    verb, outcome = F.col("verb"), F.col("outcome")
    done = outcome == "done"
    write = (verb == "produce") & done
    doubt = (verb == "commit") & (outcome == "unsure")
    promised, aborted = F.max((verb == "commit") & done), F.max((verb == "abort") & done)
    fate = F.when(promised, PROMISED).when(aborted, NEVER).when(F.max(doubt), DOUBTFUL).otherwise(NEVER)
    handed = verb.isin("commit", "abort") & done & (F.col("protocol") == "v2")
    return (
        operations.where("txn IS NOT NULL")
        .groupBy("txn")
        .agg(
            F.min(F.xxhash64("actor")).alias("actor"),
            F.min("number").alias("number"),
            F.max("number").alias("upto"),
            fate.alias("fate"),
            F.count(F.when(write, 1)).alias("done"),
            F.bit_xor(F.when(write, F.xxhash64("ordinal", record_hash()))).alias("done_x"),
            F.count(F.when((verb == "send_offsets") & done, 1)).alias("offsets"),
            F.max(F.when(verb.isin("produce", "commit"), F.col("started"))).alias("tried_at"),
            F.max(F.when(verb.isin("produce", "commit") & done, F.col("started"))).alias("done_at"),
            F.max(F.when(handed, F.col("number"))).alias("end_number"),
            F.max(F.when(handed, F.col("producer_id"))).alias("end_pid"),
            F.max(F.when(handed, F.col("epoch"))).alias("end_epoch"),
        )
    )


def _logged(log: DataFrame) -> DataFrame:
    committed = F.col("status") == COMMITTED
    return log.groupBy("txn").agg(
        F.count(F.when(committed, 1)).alias("committed"),
        F.bit_xor(F.when(committed, F.xxhash64("ordinal", "record_hash"))).alias("committed_x"),
        F.count(F.when(F.col("status") == OPEN, 1)).alias("open"),
        F.count(F.when(F.col("run_end"), 1)).alias("runs"),
        different_of_64(bits_of_64("partition_id")).alias("partitions"),
        F.count(F.when(F.col("mixed"), 1)).alias("mixed"),
        F.count(F.when(committed, F.col("amount"))).alias("money"),
        F.sum(F.when(committed, F.col("amount"))).alias("amount"),
        F.count("input_offset").alias("relayed"),
        F.count(F.when(F.col("unsorted"), 1)).alias("unsorted"),
        F.min("pid").alias("least_pid"),
        F.max("pid").alias("pid"),
    )


def _suspect() -> Any:
    col = F.col
    empty = col("committed") == 0
    kept = (col("committed") == col("done")) & (col("committed_x") == col("done_x"))
    as_promised = F.when(col("fate") == PROMISED, kept).when(col("fate") == DOUBTFUL, kept | empty).otherwise(empty)
    # Two segments on one partition give more runs than partitions; 64 partitions share the bits, which only adds doubt.
    apart = (col("runs") > col("partitions")) | (col("mixed") > 0)
    return ~as_promised | (~empty & (apart | _fenced("tried_at") | (col("amount") != 0)))


def _fenced(at: str) -> Any:
    """Whether the operation that began at ``at`` began after a newer init of the transactional id was done."""
    return F.coalesce(F.col(at) > F.col("fenced_at"), F.lit(False))


def wrote() -> Any:
    """Whether there was something to end: clients end a transaction in which nothing was written without asking."""
    return F.col("done") + F.col("offsets") > 0


def by_actor() -> Any:
    """A window over an actor's transactions in the order of their numbers."""
    return Window.partitionBy("actor").orderBy("txn")
