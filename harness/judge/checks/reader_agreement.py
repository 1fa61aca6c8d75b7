"""Each reader is shown the committed log below its end: every record once, and nothing else.

A reader is accused only of what the log does not explain. For one of kind ``actor`` nothing is missing, and the same
offset twice is no duplicate: it stops anywhere, and reads again after a rebalance.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from harness.judge.check import OF_RECORD, Check, Examined, findings, sentence
from harness.judge.frames.segments import ABORTED, COMMITTED, OPEN, UNKNOWN, read_hash, record_hash
from harness.judge.frames.transactions import PROMISED
from harness.judge.frames.views import ACTOR, PAIR, views
from harness.judge.judge_context import JudgeContext
from harness.spark.session.driver_rows import collect_rows
from harness.spark.session.local_checkpoint import checkpointed

ANOMALIES = (
    "unknown-record",
    "altered-record",
    "dirty-read",
    "aborted-read",
    "duplicate",
    "lost-commit",
    "torn-transaction",
)


def examine(context: JudgeContext) -> Examined:
    """Witnesses: records that readers delivered."""
    if "reads" in context.history.missing:
        return Examined(witnesses=0, reason="there is no table of reads")
    seen = checkpointed(views(context))
    disagreeing, halted = F.when(~F.col("agrees"), 1), F.when(F.col("end") < F.col("wanted"), 1)
    totals = seen.agg(F.sum("delivered"), F.count(disagreeing), F.count(halted))
    ((delivered, doubted, wanting),) = collect_rows(totals)
    found = _differences(context, seen) if doubted else []
    short = _short(context, seen) if wanting else []
    undecided = "; ".join((*short, *([context.partitions.lacking] if context.partitions.lacking else [])))
    return Examined(
        witnesses=delivered or 0, findings=found, undecided=undecided, reason="no reader delivered anything"
    )


def _short(context: JudgeContext, seen: DataFrame) -> list[str]:
    """Readers that did not come to where they had to, though the last stable offset was there."""
    stable = context.partitions.rows.select("partition_id", "topic", "partition", "stable")
    short = seen.join(F.broadcast(stable), "partition_id").where("end < least(wanted, stable)")
    text = sentence("%s came to %s of %s in %s-%s", "reader", "end", "wanted", "topic", "partition")
    return [row.text for row in collect_rows(short.select(text.alias("text")).limit(3))]


def _differences(context: JudgeContext, seen: DataFrame) -> list[DataFrame]:
    ends = F.broadcast(context.partitions.rows.select("partition_id", "high"))
    pairs = F.broadcast(seen.where("NOT agrees").join(ends, "partition_id"))
    given = checkpointed(_delivered(context, pairs))
    stray = _classified(context, given.where("NOT matched"))
    shown = F.when(F.col("isolation") == "read_committed", _by_status())
    extra = given.where("matched").withColumn("anomaly", shown)
    twice = given.where((F.col("times") > 1) & (F.col("kind") != ACTOR)).withColumn("anomaly", F.lit("duplicate"))
    named = [extra.where("anomaly IS NOT NULL"), stray.where("anomaly IS NOT NULL")]
    return [*map(_named, named), _named_twice(twice), _missing(context, pairs, given)]


def _delivered(context: JudgeContext, pairs: DataFrame) -> DataFrame:
    """What the views that differ delivered, beside what the log has there; ``matched`` where that is the same."""
    reads = context.partitions.numbered(context.tables["reads"])
    reads = reads.select(
        "reader",
        "partition_id",
        "offset",
        "txn",
        "ordinal",
        record_hash().alias("record_hash"),
        read_hash(record_hash()).alias("read_hash"),
    )
    given = reads.groupBy(*reads.columns).agg(F.count("*").alias("times")).join(pairs, PAIR)
    partitions = pairs.select("partition_id").distinct()
    log = context.log.join(F.broadcast(partitions), "partition_id", "left_semi")
    there = log.select("partition_id", "offset", read_hash().alias("there"), "status", "pid", "epoch")
    rows = given.join(there, ["partition_id", "offset"], "left")
    return rows.withColumn("matched", F.coalesce(F.col("read_hash") == F.col("there"), F.lit(False)))


def _by_status() -> Column:
    """Of a reader that came past the log's end as it was read, what is open there may have been ended since."""
    before = F.coalesce(F.col("end") <= F.col("high"), F.lit(True))
    return F.when((F.col("status") == OPEN) & before, "dirty-read").when(F.col("status") == ABORTED, "aborted-read")


def _classified(context: JudgeContext, stray: DataFrame) -> DataFrame:
    """What a reader delivered that the log does not have at that offset."""
    key = ["txn", "ordinal"]
    ours = stray.select("txn").distinct()
    low = context.partitions.rows.select("partition_id", "low", "complete")
    writes = context.operations.where("verb = 'produce'").join(ours, "txn", "left_semi")
    asked = writes.groupBy(*key).agg(
        F.collect_set(record_hash()).alias("asked"), F.max(F.col("outcome") == "done").alias("acknowledged")
    )
    theirs = context.log.join(ours, "txn", "left_semi")
    logged = theirs.groupBy(*key).agg(
        F.collect_set("record_hash").alias("logged"),
        F.min(F.when(F.col("status") != UNKNOWN, F.col("status"))).alias("elsewhere"),
        F.max(F.col("status") == UNKNOWN).alias("doubt"),
    )
    fates = context.transactions.where("txn IS NOT NULL").select("txn", "fate")
    rows = stray.join(asked, key, "left").join(logged, key, "left").join(fates, "txn", "left")
    return rows.join(F.broadcast(low), "partition_id").where("offset >= low").withColumn("anomaly", _strayed())


def _strayed() -> Column:
    written = F.array_contains("asked", F.col("record_hash"))
    in_log = F.coalesce(F.array_contains("logged", F.col("record_hash")), F.lit(False))
    strict = F.col("isolation") == "read_committed"
    lost_by_log = (F.col("fate") == PROMISED) & F.col("acknowledged")
    unknown = F.coalesce(F.col("doubt"), F.lit(False)) | ~F.col("complete")
    moved = F.when(F.col("elsewhere") == COMMITTED, "duplicate").when(
        strict & (F.col("elsewhere") == ABORTED), "aborted-read"
    )
    moved = moved.when(strict & (F.col("elsewhere") == OPEN), "dirty-read")
    vanished = F.when(strict & ~unknown & ~F.coalesce(lost_by_log, F.lit(False)), "dirty-read")
    return (
        F.when(F.col("asked").isNull() & ~in_log, "unknown-record")
        .when(~F.coalesce(written, F.lit(False)) & ~in_log, "altered-record")
        .when(F.col("elsewhere").isNotNull(), moved)
        .otherwise(vanished)
    )


def _missing(context: JudgeContext, pairs: DataFrame, given: DataFrame) -> DataFrame:
    """Transactions of which a reader that came past them lacks some or all records."""
    owing = pairs.where((F.col("kind") != ACTOR) & F.col("end").isNotNull()).select(*PAIR, "end")
    committed = context.log.where((F.col("status") == COMMITTED) & F.col("txn").isNotNull())
    owed = context.without_anomalies(committed).join(owing, "partition_id").where("offset < end")
    lacking = owed.join(given.select("reader", "txn", "ordinal"), ["reader", "txn", "ordinal"], "left_anti")
    gone = lacking.groupBy("reader", "txn").agg(
        F.count("*").alias("missing"), F.min(F.struct("partition_id", "offset", "pid", "epoch")).alias("gone")
    )
    return _named_missing(gone.join(_all_owed(context, gone), ["reader", "txn"], "left"), context)


def _all_owed(context: JudgeContext, gone: DataFrame) -> DataFrame:
    """How many records of those transactions the readers owe on all partitions."""
    ends = context.partitions.numbered(context.tables["readers"])
    ends = ends.groupBy(*PAIR).agg(F.max("end_offset").alias("end"))
    committed = context.log.where((F.col("status") == COMMITTED) & F.col("txn").isNotNull())
    theirs = context.without_anomalies(committed.join(gone.select("txn").distinct(), "txn", "left_semi"))
    rows = theirs.join(F.broadcast(ends), "partition_id").where("offset < end")
    return rows.groupBy("reader", "txn").agg(F.count("*").alias("owed"))


def _named_missing(rows: DataFrame, context: JudgeContext) -> DataFrame:
    known = context.transactions.select("txn", "number", "upto")
    none = F.col("missing") >= F.col("owed")
    return findings(
        rows.join(known, "txn", "left"),
        anomaly=F.when(none, "lost-commit").otherwise("torn-transaction"),
        detail=sentence("%s lacks %s of the %s records of transaction %s", "reader", "missing", "owed", "txn"),
        view="reader",
        txn="txn",
        partition_id="gone.partition_id",
        offset="gone.offset",
        producer_id="gone.pid",
        epoch="gone.epoch",
        operations=F.array_compact(F.array("number", "upto")),
    )


def _named(rows: DataFrame) -> DataFrame:
    anomaly, record = F.col("anomaly"), sentence("record %s/%s", "txn", "ordinal")
    record = F.when(F.col("txn").isNull(), "a record that is none of the history's").otherwise(record)
    why = (
        F.when(anomaly == "aborted-read", "which is aborted")
        .when((anomaly == "dirty-read") & F.col("status").isNotNull(), "which is open")
        .when(anomaly == "dirty-read", "which the log has not")
        .when(anomaly == "unknown-record", "which no operation wrote")
        .when(anomaly == "altered-record", "which is not what was written")
        .otherwise("which the log has at another offset")
    )
    return findings(
        rows,
        anomaly="anomaly",
        detail=sentence("%s delivered %s, %s", "reader", record, why),
        view="reader",
        **OF_RECORD,
    )


def _named_twice(rows: DataFrame) -> DataFrame:
    detail = sentence("%s delivered record %s/%s %s times", "reader", "txn", "ordinal", "times")
    return findings(rows, anomaly="anomaly", detail=detail, view="reader", **OF_RECORD)


CHECK = Check(
    name="views-agree-with-the-log",
    statement="Every reader delivered the committed log below its end: each record once, and nothing else.",
    anomalies=ANOMALIES,
    examine=examine,
    early=True,
)
