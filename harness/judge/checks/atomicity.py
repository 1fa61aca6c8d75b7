"""The committed log has all promised records of a transaction; of one whose commit was unsure, all or none."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.judge.check import Check, Examined, findings, sentence
from harness.judge.frames.record_audit import RecordAudit
from harness.judge.frames.transactions import DOUBTFUL, PROMISED
from harness.judge.judge_context import JudgeContext

ANOMALIES = ("lost-commit", "torn-transaction")


def examine(context: JudgeContext) -> Examined:
    """Witnesses: transactions whose commit was done or unsure."""
    found = [] if context.audit is None else [_named(broken(context.audit).where("anomaly IS NOT NULL"))]
    return Examined(
        witnesses=context.totals.promised,
        findings=found,
        undecided=context.partitions.lacking,
        reason="no transaction was committed",
    )


def record_states(audit: RecordAudit) -> DataFrame:
    """What became of every record that the suspects wrote.

    txn, ordinal and the columns of ``writes``, with ``state``: ``right`` (committed as it should be), ``wrong``
    (committed, and an anomaly itself), ``excused`` (open, or not to be known), ``missing``.
    """
    seen = audit.records.groupBy("txn", "ordinal").agg(
        F.max(F.col("anomaly").isNull()).alias("right"), F.lit(True).alias("seen")
    )
    left = audit.left.groupBy("txn", "ordinal").agg(F.lit(True).alias("left"))
    rows = audit.writes.join(seen, ["txn", "ordinal"], "left").join(left, ["txn", "ordinal"], "left")
    # Below the log's start nothing can be missing; an offset that was never acknowledged may be there.
    below = F.coalesce(F.col("acked_offset") < F.col("low"), F.col("low") > 0)
    unknown = F.col("left") | ~F.col("complete") | F.col("written_to").isNull() | below
    state = (
        F.when(F.col("right"), "right")
        .when(F.col("seen"), "wrong")
        .when(F.coalesce(unknown, F.lit(False)), "excused")
        .otherwise("missing")
    )
    return rows.withColumn("state", state)


def broken(audit: RecordAudit) -> DataFrame:
    """The suspects whose acknowledged records are not all there; ``anomaly`` is null where that is in order."""
    state = F.col("state")
    gone = F.when(state == "missing", F.struct("number", "written_to", "acked_offset", "writer"))
    rows = (
        record_states(audit)
        .where("rank = 0")
        .groupBy("txn")
        .agg(
            F.count(F.when(state == "right", 1)).alias("right"),
            F.count(F.when(state == "wrong", 1)).alias("wrong"),
            F.count(gone).alias("missing"),
            F.min(gone).alias("gone"),
            F.slice(F.array_sort(F.collect_list(F.when(state == "missing", F.col("number")))), 1, 10).alias("lacking"),
        )
        .where("missing > 0")
        .join(audit.fates.select("txn", "fate", "upto"), "txn")
    )
    some = F.when(F.col("right") + F.col("wrong") > 0, "torn-transaction").otherwise("lost-commit")
    torn = F.when(F.col("right") > 0, "torn-transaction")
    return rows.withColumn("anomaly", F.when(F.col("fate") == PROMISED, some).when(F.col("fate") == DOUBTFUL, torn))


def _named(rows: DataFrame) -> DataFrame:
    there = F.col("right") + F.col("wrong")
    return findings(
        rows,
        anomaly="anomaly",
        detail=sentence(
            "the committed log lacks %s of the %s acknowledged records of transaction %s, whose commit was %s",
            "missing",
            there + F.col("missing"),
            "txn",
            F.when(F.col("fate") == PROMISED, "done").otherwise("unsure"),
        ),
        view=F.lit("log"),
        txn="txn",
        actor="gone.writer",
        partition_id="gone.written_to",
        offset="gone.acked_offset",
        operations=F.array_append("lacking", F.col("upto")),
    )


CHECK = Check(
    name="transactions-are-whole",
    statement="What a committed transaction wrote is in the committed log, all of it; of an unsure one all or nothing.",
    anomalies=ANOMALIES,
    examine=examine,
)
