"""No transaction is left open: not in the log, and not in what a leader keeps (DescribeProducers, KIP-664)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.judge.check import Check, Examined, findings, say
from harness.judge.frames.segments import OPEN
from harness.judge.judge_context import JudgeContext


def examine(scene: JudgeContext) -> Examined:
    """Witnesses: transactions whose records are in the log, and open ones that leaders keep."""
    found = [_named(left_open(scene), scene)] if scene.census.open or scene.ground.kept_open else []
    return Examined(
        witnesses=scene.census.logged + scene.ground.kept_open,
        findings=found,
        undecided=scene.ground.lacking,
        reason="the log has no transactions",
    )


def _kept_open(scene: JudgeContext) -> DataFrame:
    """Producers with an open transaction, as leaders tell: place, pid, epoch, start."""
    rows = scene.ground.numbered(scene.history.tables["producers"].where("transaction_start_offset >= 0"))
    start = F.col("transaction_start_offset").alias("start")
    return rows.select("place", F.col("producer_id").alias("pid"), "epoch", start)


def left_open(scene: JudgeContext) -> DataFrame:
    """What is open, a row a place and producer id: start, epoch, txn (null where only a leader tells), kept."""
    first = F.min(F.struct("offset", "txn", "epoch")).alias("first")
    in_log = scene.log.where(F.col("status") == OPEN).groupBy("place", "pid").agg(first)
    kept = _kept_open(scene).groupBy("place", "pid").agg(F.min(F.struct("start", "epoch")).alias("kept"))
    rows = in_log.join(kept, ["place", "pid"], "full")
    return rows.select(
        "place",
        "pid",
        F.coalesce("first.offset", "kept.start").alias("start"),
        F.coalesce("first.epoch", "kept.epoch").alias("epoch"),
        "first.txn",
        F.col("first").isNotNull().alias("in_log"),
        F.col("kept").isNotNull().alias("kept"),
    )


def _named(rows: DataFrame, scene: JudgeContext) -> DataFrame:
    known = scene.transactions.select("txn", "number", "upto")
    where = F.when(F.col("in_log") & F.col("kept"), "in the log and at its leader")
    where = where.when(F.col("in_log"), "in the log").otherwise("at its leader")
    return findings(
        rows.join(known, "txn", "left"),
        anomaly=F.lit("hanging-transaction"),
        detail=say("producer id %s has a transaction open %s, from offset %s on", "pid", where, "start"),
        txn="txn",
        place="place",
        offset="start",
        producer_id="pid",
        epoch="epoch",
        operations=F.array_compact(F.array("number", "upto")),
    )


CHECK = Check(
    name="nothing-hangs",
    statement="After settling no transaction is open, in the log or at a leader.",
    anomalies=("hanging-transaction",),
    examine=examine,
)
