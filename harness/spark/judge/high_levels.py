"""The last stable offset in the run: at no time was it above a transaction that was open then.

A sample tells high watermark and last stable offset of one moment. A segment whose marker lies at or beyond that high
watermark was open at that moment, so the last stable offset could not be above its first record. A leader reads the
two numbers one after the other, and a marker may come in between; so it takes two samples that accuse one segment:
what a marker in between explains in the first, it cannot explain in the second. Segments that never ended hang, and
what the last stable offset should be for them is asked at the end.
"""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from harness.spark.judge.check import findings, say
from harness.spark.judge.scene import Scene

SAMPLES = 2
"""Samples that must accuse the same segment."""


def too_high(scene: Scene) -> DataFrame:
    """Segments that lay below the last stable offset while they were open."""
    latest_first = Window.partitionBy("place").orderBy(F.col("until").desc(), "sample")
    so_far = latest_first.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    rows = _segments(scene).unionByName(_samples(scene)).withColumn("open", F.min("segment").over(so_far))
    accused = rows.where("sample AND lso > open.first").groupBy("place", "open")
    told = accused.agg(F.count("*").alias("samples"), F.min(F.struct("at", "lso", "until")).alias("one"))
    return findings(
        told.where(F.col("samples") >= SAMPLES),
        anomaly=F.lit("wrong-lso"),
        detail=say(
            "%s samples, the first at %s ms, have the last stable offset above the transaction of producer id %s that "
            "was open from offset %s on: at %s with a high watermark of %s",
            *("samples", "one.at", "open.pid", "open.first", "one.lso", "one.until"),
        ),
        txn="open.txn",
        place="place",
        offset="open.first",
        producer_id="open.pid",
    )


def _segments(scene: Scene) -> DataFrame:
    """A row a segment that was ended: its first record, and the offset of its marker."""
    ended = scene.log.where("segment >= 0")
    first = F.min(F.struct(F.col("offset").alias("first"), "pid", "txn")).alias("segment")
    rows = ended.withColumnRenamed("segment", "until").groupBy("place", "pid", "until").agg(first)
    nothing = [F.lit(None).cast("double").alias("at"), F.lit(None).cast("long").alias("lso")]
    return rows.select("place", "until", "segment", F.lit(False).alias("sample"), *nothing)


def _samples(scene: Scene) -> DataFrame:
    """A row a sample, which sees the segments that end at its high watermark or later."""
    rows = scene.ground.numbered(scene.history.tables["levels"])
    none = F.lit(None).cast("struct<first: bigint, pid: bigint, txn: bigint>").alias("segment")
    until, lso = F.col("high_watermark").alias("until"), F.col("last_stable_offset").alias("lso")
    return rows.select("place", until, none, F.lit(True).alias("sample"), "at", lso)
