"""The last stable offset in the run: at no time was it above a transaction that was open then.

A sample has high watermark and last stable offset of one moment. A segment whose marker lies at or beyond that high
watermark was open at that moment, so the last stable offset could not be above its first record. A leader reads the
two numbers one after the other, and a marker may come in between; so it takes two samples that accuse one segment:
what a marker in between explains in the first, it cannot explain in the second. Segments that never ended hang, and
what the last stable offset should be for them is asked at the end.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.judge.check import findings, sentence
from harness.judge.judge_context import JudgeContext

SAMPLES = 2
"""Samples that must accuse the same segment."""
BUCKET_BITS = 6
"""Segments and samples are joined by buckets of 2^6 offsets, which is longer than most segments are."""


def too_high(context: JudgeContext) -> DataFrame:
    """Segments that lay below the last stable offset while they were open."""
    joined = _segments(context).join(_samples(context), ["partition_id", "bucket"])
    accused = joined.where("first < least(lso, hw) AND hw <= until").groupBy(
        "partition_id", "first", "until", "pid", "txn"
    )
    counted = accused.agg(F.sum("times").alias("samples"), F.min(F.struct("at", "lso", "hw")).alias("one"))
    return findings(
        counted.where(F.col("samples") >= SAMPLES),
        anomaly=F.lit("wrong-lso"),
        detail=sentence(
            "%s samples, the first at %s ms, have the last stable offset above the transaction of producer id %s that "
            "was open from offset %s on: at %s with a high watermark of %s",
            *("samples", "one.at", "pid", "first", "one.lso", "one.hw"),
        ),
        txn="txn",
        partition_id="partition_id",
        offset="first",
        producer_id="pid",
    )


def _segments(context: JudgeContext) -> DataFrame:
    """A row a segment that was ended and bucket that it lies in: its first record, and the offset of its marker."""
    ended = context.log.where("starts AND segment >= 0")
    rows = ended.select("partition_id", "pid", "txn", F.col("offset").alias("first"), F.col("segment").alias("until"))
    buckets = F.sequence(F.shiftright("first", BUCKET_BITS), F.shiftright("until", BUCKET_BITS))
    return rows.select("*", F.explode(buckets).alias("bucket"))


def _samples(context: JudgeContext) -> DataFrame:
    """A row a (last stable offset, high watermark) that was seen, in the bucket of the last offset below both.

    A segment that it accuses begins at that offset or before and ends above it, so it lies in that bucket too.
    """
    rows = context.partitions.numbered(context.tables["levels"])
    seen = rows.groupBy("partition_id", F.col("last_stable_offset").alias("lso"), F.col("high_watermark").alias("hw"))
    bucket = F.shiftright(F.least("lso", "hw") - 1, BUCKET_BITS)
    return seen.agg(F.count("*").alias("times"), F.min("at").alias("at")).withColumn("bucket", bucket)
