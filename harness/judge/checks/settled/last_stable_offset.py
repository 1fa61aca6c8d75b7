"""The last stable offset reaches the high watermark once nothing is open, and is never above what is open (KIP-98).

Both ways of asking for it, ListOffsets (``partitions``) and a Fetch after it (``levels``), must give the same.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.judge.check import Check, Examined, findings, sentence
from harness.judge.checks.settled.hanging import left_open
from harness.judge.frames.lso_samples import too_high
from harness.judge.judge_context import JudgeContext
from harness.judge.partitions import JudgedPartition


def examine(context: JudgeContext) -> Examined:
    """Witnesses: partitions whose last stable offset is known and that have a log or were written to."""
    known = [one for one in context.partitions.each if _known(one)]
    return Examined(
        witnesses=len(known),
        findings=_findings(context) if known else (),
        undecided="; ".join(_unknown(context)[:3]),
        reason="no partition that was written to told its last stable offset",
    )


def _known(one: JudgedPartition) -> bool:
    return one.last_stable_offset is not None and bool(one.rows or one.written or one.high_watermark)


def _unknown(context: JudgeContext) -> list[str]:
    return [one.lacking for one in context.partitions.each if one.high_watermark is None and one.lacking]


def _findings(context: JudgeContext) -> list[DataFrame]:
    found = [_wrong_by_fetch(context), too_high(context)] if "levels" not in context.history.missing else []
    if any(_stuck(one) for one in context.partitions.each):
        found.append(_named_stuck(context))
    if context.totals.open or context.partitions.open_at_leaders:
        found.append(_above(context))
    return found


def _stuck(one: JudgedPartition) -> bool:
    if one.last_stable_offset is None or one.high_watermark is None:
        return False
    return one.last_stable_offset < one.high_watermark


def _ends(context: JudgeContext) -> DataFrame:
    """The ends of partitions: partition_id, at, hw, lso."""
    rows = context.partitions.numbered(context.tables["partitions"])
    hw, lso = F.col("high_watermark").alias("hw"), F.col("last_stable_offset").alias("lso")
    last = F.max(F.struct("at", hw, lso)).alias("last")
    return rows.groupBy("partition_id").agg(last).select("partition_id", "last.*")


def _levels(context: JudgeContext) -> DataFrame:
    rows = context.partitions.numbered(context.tables["levels"])
    return rows.select(
        "partition_id",
        F.col("at").alias("seen"),
        F.col("high_watermark").alias("top"),
        F.col("last_stable_offset").alias("low"),
    )


def _named_stuck(context: JudgeContext) -> DataFrame:
    stuck = _ends(context).where("lso < hw")
    same = _levels(context).join(F.broadcast(stuck), "partition_id").where("low = lso AND top > low AND seen <= at")
    since = same.groupBy("partition_id").agg(F.min("seen").alias("since"))
    first = F.min(F.struct("start", "pid", "epoch", "txn")).alias("first")
    holder = left_open(context).groupBy("partition_id").agg(first)
    rows = stuck.join(since, "partition_id", "left").join(holder, "partition_id", "left")
    lasted = F.col("at") - F.col("since")
    how_long = F.when(lasted.isNull(), "for an unknown time").otherwise(
        sentence("for %s ms", F.round(lasted).cast("long"))
    )
    who = F.when(F.col("first").isNull(), "no producer that is known").otherwise(
        sentence("producer id %s", "first.pid")
    )
    return findings(
        rows,
        anomaly=F.lit("stuck-lso"),
        detail=sentence(
            "the last stable offset is %s, below the high watermark %s, %s: held by %s", "lso", "hw", how_long, who
        ),
        txn="first.txn",
        partition_id="partition_id",
        offset="lso",
        producer_id="first.pid",
        epoch="first.epoch",
        lasted_ms=lasted,
    )


def _above(context: JudgeContext) -> DataFrame:
    first = F.min(F.struct("start", "pid", "epoch", "txn")).alias("first")
    rows = (
        _ends(context)
        .join(left_open(context).groupBy("partition_id").agg(first), "partition_id")
        .where("lso > first.start")
    )
    return findings(
        rows,
        anomaly=F.lit("wrong-lso"),
        detail=sentence(
            "the last stable offset is %s, above the transaction that producer id %s has open from offset %s on",
            *("lso", "first.pid", "first.start"),
        ),
        txn="first.txn",
        partition_id="partition_id",
        offset="first.start",
        producer_id="first.pid",
        epoch="first.epoch",
    )


def _wrong_by_fetch(context: JudgeContext) -> DataFrame:
    """Fetch and ListOffsets disagree at one and the same high watermark; only where nothing else is wrong with it."""
    quiet = _ends(context).where("lso >= hw")
    rows = _levels(context).join(F.broadcast(quiet), "partition_id").where("seen >= at AND top = hw AND low <> lso")
    one = rows.groupBy("partition_id").agg(F.min(F.struct("seen", "low", "lso", "hw")).alias("one"))
    return findings(
        one,
        anomaly=F.lit("wrong-lso"),
        detail=sentence("ListOffsets tells %s as the last stable offset, a Fetch after it %s", "one.lso", "one.low"),
        partition_id="partition_id",
        offset=F.least("one.low", "one.lso"),
    )


CHECK = Check(
    name="the-last-stable-offset-moves",
    statement="After settling the last stable offset is at the high watermark, and never above an open transaction.",
    anomalies=("stuck-lso", "wrong-lso"),
    examine=examine,
)
