"""No transaction is left open: not in the log, and not in what brokers keep (KIP-664).

Leaders tell it by DescribeProducers, coordinators by DescribeTransactions: one whose markers are written, and that a
coordinator does not complete, keeps its transactional id from beginning another (``TransactionMarkerChannelManager``).
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.evidence.transaction_states import GOING_ON
from harness.judge.check import Check, Examined, findings, sentence
from harness.judge.frames.segments import OPEN
from harness.judge.judge_context import JudgeContext


def examine(context: JudgeContext) -> Examined:
    """Witnesses: transactions whose records are in the log, and open ones that leaders and coordinators keep."""
    found = [_named(left_open(context), context)] if context.totals.open or context.partitions.open_at_leaders else []
    unfinished = _unfinished(context)
    at_coordinators = unfinished.count()
    if at_coordinators:
        found.append(_named_unfinished(unfinished.join(left_open(context), "pid", "left_anti")))
    return Examined(
        witnesses=context.totals.logged + context.partitions.open_at_leaders + at_coordinators,
        findings=found,
        undecided=context.partitions.lacking,
        reason="the log has no transactions",
    )


def _open_at_leaders(context: JudgeContext) -> DataFrame:
    """Producers with an open transaction, at their leaders: partition_id, pid, epoch, start."""
    rows = context.partitions.numbered(context.tables["producers"].where("transaction_start_offset >= 0"))
    start = F.col("transaction_start_offset").alias("start")
    return rows.select("partition_id", F.col("producer_id").alias("pid"), "epoch", start)


def _unfinished(context: JudgeContext) -> DataFrame:
    """What coordinators keep as not over: transactional_id, state, pid, epoch."""
    rows = context.tables["transactions"].where(F.col("state").isin(*GOING_ON))
    return rows.select("transactional_id", "state", F.col("producer_id").alias("pid"), "epoch")


def left_open(context: JudgeContext) -> DataFrame:
    """What is open, a row a partition and producer id: start, epoch, in_log, at_leader, txn (null without log)."""
    first = F.min(F.struct("offset", "txn", "epoch")).alias("first")
    in_log = context.log.where(F.col("status") == OPEN).groupBy("partition_id", "pid").agg(first)
    at_leader = (
        _open_at_leaders(context)
        .groupBy("partition_id", "pid")
        .agg(F.min(F.struct("start", "epoch")).alias("at_leader"))
    )
    rows = in_log.join(at_leader, ["partition_id", "pid"], "full")
    return rows.select(
        "partition_id",
        "pid",
        F.coalesce("first.offset", "at_leader.start").alias("start"),
        F.coalesce("first.epoch", "at_leader.epoch").alias("epoch"),
        "first.txn",
        F.col("first").isNotNull().alias("in_log"),
        F.col("at_leader").isNotNull().alias("at_leader"),
    )


def _named(rows: DataFrame, context: JudgeContext) -> DataFrame:
    known = context.transactions.select("txn", "number", "upto")
    where = F.when(F.col("in_log") & F.col("at_leader"), "in the log and at its leader")
    where = where.when(F.col("in_log"), "in the log").otherwise("at its leader")
    return findings(
        rows.join(known, "txn", "left"),
        anomaly=F.lit("hanging-transaction"),
        detail=sentence("producer id %s has a transaction open %s, from offset %s on", "pid", where, "start"),
        txn="txn",
        partition_id="partition_id",
        offset="start",
        producer_id="pid",
        epoch="epoch",
        operations=F.array_compact(F.array("number", "upto")),
    )


def _named_unfinished(rows: DataFrame) -> DataFrame:
    return findings(
        rows,
        anomaly=F.lit("hanging-transaction"),
        detail=sentence(
            "the coordinator keeps %s in %s, where nothing of producer id %s is open",
            "transactional_id",
            "state",
            "pid",
        ),
        producer_id="pid",
        epoch="epoch",
    )


CHECK = Check(
    name="nothing-hangs",
    statement="After settling no transaction is open, in the log, at a leader or at a coordinator.",
    anomalies=("hanging-transaction",),
    examine=examine,
)
