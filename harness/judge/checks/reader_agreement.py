"""Each reader is shown the committed log below its end: every record once, and nothing else.

A reader is accused only of what the log does not explain. For one of kind ``actor`` nothing is missing, and the same
offset twice is no duplicate: it stops anywhere, and reads again after a rebalance.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from harness.judge.check import Check, Examined, findings, say
from harness.judge.frames.segments import ABORTED, COMMITTED, OPEN, UNKNOWN, mark, printed
from harness.judge.frames.transactions import PROMISED
from harness.judge.frames.views import ACTOR, PAIR, views
from harness.judge.judge_context import JudgeContext
from harness.spark.session.driver_rows import rows as taken

ANOMALIES = (
    "unknown-record",
    "altered-record",
    "dirty-read",
    "aborted-read",
    "duplicate",
    "lost-commit",
    "torn-transaction",
)


def examine(scene: JudgeContext) -> Examined:
    """Witnesses: records that readers delivered."""
    if "reads" in scene.history.missing:
        return Examined(witnesses=0, reason="there is no table of reads")
    seen = scene.keep(views(scene))
    disagreeing, halted = F.when(~F.col("agrees"), 1), F.when(F.col("end") < F.col("wanted"), 1)
    totals = seen.agg(F.sum("delivered"), F.count(disagreeing), F.count(halted))
    ((delivered, doubted, wanting),) = taken(totals)
    found = _look(scene, seen) if doubted else []
    short = _short(scene, seen) if wanting else []
    undecided = "; ".join((*short, *([scene.ground.lacking] if scene.ground.lacking else [])))
    return Examined(
        witnesses=delivered or 0, findings=found, undecided=undecided, reason="no reader delivered anything"
    )


def _short(scene: JudgeContext, seen: DataFrame) -> list[str]:
    """Readers that did not come to where they had to, though the last stable offset was there."""
    stable = scene.ground.rows.select("place", "topic", "partition", "stable")
    short = seen.join(F.broadcast(stable), "place").where("end < least(wanted, stable)")
    sentence = say("%s came to %s of %s in %s-%s", "reader", "end", "wanted", "topic", "partition")
    return [row.said for row in taken(short.select(sentence.alias("said")).limit(3))]


def _look(scene: JudgeContext, seen: DataFrame) -> list[DataFrame]:
    pairs = F.broadcast(seen.where("NOT agrees"))
    given = scene.keep(_given(scene, pairs))
    stray = _classified(scene, given.where("NOT matched"))
    shown = F.when(F.col("isolation") == "read_committed", _by_status())
    extra = given.where("matched").withColumn("anomaly", shown)
    twice = given.where((F.col("times") > 1) & (F.col("kind") != ACTOR)).withColumn("anomaly", F.lit("duplicate"))
    named = [extra.where("anomaly IS NOT NULL"), stray.where("anomaly IS NOT NULL")]
    return [*map(_named, named), _named_twice(twice), _missing(scene, pairs, given)]


def _given(scene: JudgeContext, pairs: DataFrame) -> DataFrame:
    """What the views in question delivered, beside what the log has there; ``matched`` where that is the same."""
    reads = scene.ground.numbered(scene.history.tables["reads"])
    reads = reads.select(
        "reader", "place", "offset", "txn", "ordinal", mark().alias("mark"), printed(mark()).alias("print")
    )
    given = reads.groupBy(*reads.columns).agg(F.count("*").alias("times")).join(pairs, PAIR)
    places = pairs.select("place").distinct()
    log = scene.log.join(F.broadcast(places), "place", "left_semi")
    there = log.select("place", "offset", printed().alias("there"), "status", "pid", "epoch")
    rows = given.join(there, ["place", "offset"], "left")
    return rows.withColumn("matched", F.coalesce(F.col("print") == F.col("there"), F.lit(False)))


def _by_status() -> Column:
    return F.when(F.col("status") == OPEN, "dirty-read").when(F.col("status") == ABORTED, "aborted-read")


def _classified(scene: JudgeContext, stray: DataFrame) -> DataFrame:
    """What a reader delivered that the log does not have at that offset."""
    key = ["txn", "ordinal"]
    ours = stray.select("txn").distinct()
    low = scene.ground.rows.select("place", "low", "whole")
    writes = scene.operations.where("verb = 'produce'").join(ours, "txn", "left_semi")
    asked = writes.groupBy(*key).agg(
        F.collect_set(mark()).alias("asked"), F.max(F.col("outcome") == "done").alias("acknowledged")
    )
    theirs = scene.log.join(ours, "txn", "left_semi")
    logged = theirs.groupBy(*key).agg(
        F.collect_set("mark").alias("logged"),
        F.min(F.when(F.col("status") != UNKNOWN, F.col("status"))).alias("elsewhere"),
        F.max(F.col("status") == UNKNOWN).alias("doubt"),
    )
    fates = scene.transactions.where("txn IS NOT NULL").select("txn", "fate")
    rows = stray.join(asked, key, "left").join(logged, key, "left").join(fates, "txn", "left")
    return rows.join(F.broadcast(low), "place").where("offset >= low").withColumn("anomaly", _strayed())


def _strayed() -> Column:
    written = F.array_contains("asked", F.col("mark"))
    in_log = F.coalesce(F.array_contains("logged", F.col("mark")), F.lit(False))
    strict = F.col("isolation") == "read_committed"
    lost_by_log = (F.col("fate") == PROMISED) & F.col("acknowledged")
    unknown = F.coalesce(F.col("doubt"), F.lit(False)) | ~F.col("whole")
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


def _missing(scene: JudgeContext, pairs: DataFrame, given: DataFrame) -> DataFrame:
    """Transactions of which a reader that came past them lacks some or all records."""
    owing = pairs.where((F.col("kind") != ACTOR) & F.col("end").isNotNull()).select(*PAIR, "end")
    committed = scene.log.where((F.col("status") == COMMITTED) & F.col("txn").isNotNull())
    owed = scene.right(committed).join(owing, "place").where("offset < end")
    lacking = owed.join(given.select("reader", "txn", "ordinal"), ["reader", "txn", "ordinal"], "left_anti")
    gone = lacking.groupBy("reader", "txn").agg(
        F.count("*").alias("missing"), F.min(F.struct("place", "offset", "pid", "epoch")).alias("gone")
    )
    return _named_missing(gone.join(_all_owed(scene, gone), ["reader", "txn"], "left"), scene)


def _all_owed(scene: JudgeContext, gone: DataFrame) -> DataFrame:
    """How many records of those transactions the readers owe on all partitions, looked at or not."""
    ends = scene.ground.numbered(scene.history.tables["readers"])
    ends = ends.groupBy(*PAIR).agg(F.max("end_offset").alias("end"))
    committed = scene.log.where((F.col("status") == COMMITTED) & F.col("txn").isNotNull())
    theirs = scene.right(committed.join(gone.select("txn").distinct(), "txn", "left_semi"))
    rows = theirs.join(F.broadcast(ends), "place").where("offset < end")
    return rows.groupBy("reader", "txn").agg(F.count("*").alias("owed"))


def _named_missing(rows: DataFrame, scene: JudgeContext) -> DataFrame:
    known = scene.transactions.select("txn", "number", "upto")
    none = F.col("missing") >= F.col("owed")
    return findings(
        rows.join(known, "txn", "left"),
        anomaly=F.when(none, "lost-commit").otherwise("torn-transaction"),
        detail=say("%s lacks %s of the %s records of transaction %s", "reader", "missing", "owed", "txn"),
        view="reader",
        txn="txn",
        place="gone.place",
        offset="gone.offset",
        producer_id="gone.pid",
        epoch="gone.epoch",
        operations=F.array_compact(F.array("number", "upto")),
    )


def _named(rows: DataFrame) -> DataFrame:
    anomaly, record = F.col("anomaly"), say("record %s/%s", "txn", "ordinal")
    record = F.when(F.col("txn").isNull(), "a record that is none of the history's").otherwise(record)
    why = (
        F.when(anomaly == "aborted-read", "which is aborted")
        .when((anomaly == "dirty-read") & F.col("status").isNotNull(), "which is open")
        .when(anomaly == "dirty-read", "which the log has not")
        .when(anomaly == "unknown-record", "which no operation wrote")
        .when(anomaly == "altered-record", "which is not what was written")
        .otherwise("which the log has at another offset")
    )
    columns = {"place": "place", "offset": "offset", "producer_id": "pid", "epoch": "epoch", "txn": "txn"}
    return findings(
        rows, anomaly="anomaly", detail=say("%s delivered %s, %s", "reader", record, why), view="reader", **columns
    )


def _named_twice(rows: DataFrame) -> DataFrame:
    detail = say("%s delivered record %s/%s %s times", "reader", "txn", "ordinal", "times")
    columns = {"place": "place", "offset": "offset", "producer_id": "pid", "epoch": "epoch", "txn": "txn"}
    return findings(rows, anomaly="anomaly", detail=detail, view="reader", **columns)


CHECK = Check(
    name="views-agree-with-the-log",
    statement="Every reader delivered the committed log below its end: each record once, and nothing else.",
    anomalies=ANOMALIES,
    examine=examine,
)
