"""The last stable offset in the run: at no time was it above a transaction that was open then.

A sample tells high watermark and last stable offset of one moment. A segment whose marker lies at or beyond that high
watermark was open at that moment, so the last stable offset could not be above its first record. A leader reads the
two numbers one after the other, and a marker may come in between; so it takes two samples that accuse one segment:
what a marker in between explains in the first, it cannot explain in the second. Segments that never ended hang, and
what the last stable offset should be for them is asked at the end.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.judge.check import findings, say
from harness.judge.judge_context import JudgeContext

SAMPLES = 2
"""Samples that must accuse the same segment."""
STRETCH = 6
"""Segments and samples meet in stretches of 2^6 offsets, which is longer than most segments are."""


def too_high(scene: JudgeContext) -> DataFrame:
    """Segments that lay below the last stable offset while they were open."""
    met = _segments(scene).join(_samples(scene), ["place", "stretch"])
    accused = met.where("first < least(lso, hw) AND hw <= until").groupBy("place", "first", "until", "pid", "txn")
    told = accused.agg(F.sum("times").alias("samples"), F.min(F.struct("at", "lso", "hw")).alias("one"))
    return findings(
        told.where(F.col("samples") >= SAMPLES),
        anomaly=F.lit("wrong-lso"),
        detail=say(
            "%s samples, the first at %s ms, have the last stable offset above the transaction of producer id %s that "
            "was open from offset %s on: at %s with a high watermark of %s",
            *("samples", "one.at", "pid", "first", "one.lso", "one.hw"),
        ),
        txn="txn",
        place="place",
        offset="first",
        producer_id="pid",
    )


def _segments(scene: JudgeContext) -> DataFrame:
    """A row a segment that was ended and stretch that it lies in: its first record, and the offset of its marker."""
    ended = scene.log.where("starts AND segment >= 0")
    rows = ended.select("place", "pid", "txn", F.col("offset").alias("first"), F.col("segment").alias("until"))
    stretches = F.sequence(F.shiftright("first", STRETCH), F.shiftright("until", STRETCH))
    return rows.select("*", F.explode(stretches).alias("stretch"))


def _samples(scene: JudgeContext) -> DataFrame:
    """A row a (last stable offset, high watermark) that was seen, in the stretch of the last offset below both.

    A segment that it accuses begins at that offset or before and ends above it, so it lies in that stretch too.
    """
    rows = scene.ground.numbered(scene.history.tables["levels"])
    seen = rows.groupBy("place", F.col("last_stable_offset").alias("lso"), F.col("high_watermark").alias("hw"))
    stretch = F.shiftright(F.least("lso", "hw") - 1, STRETCH)
    return seen.agg(F.count("*").alias("times"), F.min("at").alias("at")).withColumn("stretch", stretch)
