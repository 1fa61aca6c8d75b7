"""Views: who read what, how far, and whether that is the committed log.

A reader that comes to a partition's end owes every record of the committed log below that end, once. Whether it
delivered just that is compared by the count, the exclusive or and the sum of 64-bit hashes of all that it delivered
and of all that it owes. Only where they differ are records compared one by one.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from harness.judge.frames.segments import COMMITTED, read_hash, record_hash
from harness.judge.judge_context import JudgeContext

ACTOR = "actor"
PAIR = ["reader", "partition_id"]


def views(context: JudgeContext) -> DataFrame:
    """All views of the history, compared by hashes.

    A row a (reader, partition) that delivered something or came to an end there: reader, partition_id, kind,
    isolation, end (null: unknown), wanted, delivered (records), agrees.
    """
    readers = _readers(context)
    ends = readers.groupBy(*PAIR).agg(F.max("end").alias("end"), F.max("wanted").alias("wanted"))
    given = _delivered(context)
    owed = _owed(context, ends.select("partition_id", "end").distinct())
    kinds = readers.groupBy("reader").agg(F.max("kind").alias("kind"), F.max("isolation").alias("isolation"))
    pairs = ends.join(given, PAIR, "full").join(kinds, "reader", "left").withColumns(_defaults())
    rows = pairs.join(owed, ["partition_id", "end"], "left").na.fill(0, ["delivered", "given_x", "given_s", "owed"])
    rows = rows.na.fill(0, ["owed_x", "owed_s"]).withColumn("agrees", _agrees())
    return rows.select("reader", "partition_id", "kind", "isolation", "end", "wanted", "delivered", "agrees")


def _defaults() -> dict[str, Column]:
    """A reader that has no row in ``readers`` is taken for an actor's own: nothing is missing for it."""
    return {
        "kind": F.coalesce("kind", F.lit(ACTOR)),
        "isolation": F.coalesce("isolation", F.lit("read_committed")),
    }


def _agrees() -> Column:
    same = (F.col("delivered") == F.col("owed")) & (F.col("given_x") == F.col("owed_x"))
    same &= F.col("given_s") == F.col("owed_s")
    return F.coalesce(same & (F.col("kind") != ACTOR) & (F.col("isolation") == "read_committed"), F.lit(False))


def _readers(context: JudgeContext) -> DataFrame:
    rows = context.partitions.numbered(context.tables["readers"])
    return rows.select("reader", "partition_id", "kind", "isolation", "wanted", F.col("end_offset").alias("end"))


def _delivered(context: JudgeContext) -> DataFrame:
    rows = context.tables["reads"]
    rows = rows.select("reader", "topic", "partition", read_hash(record_hash()).alias("read_hash"))
    counted = rows.groupBy("reader", "topic", "partition").agg(
        F.count("*").alias("delivered"), F.bit_xor("read_hash").alias("given_x"), F.sum(_folded()).alias("given_s")
    )
    return context.partitions.numbered(counted).drop("topic", "partition")


def _owed(context: JudgeContext, ends: DataFrame) -> DataFrame:
    rows = context.log.where(F.col("status") == COMMITTED).join(F.broadcast(ends), "partition_id").where("offset < end")
    return (
        rows.withColumn("read_hash", read_hash())
        .groupBy("partition_id", "end")
        .agg(F.count("*").alias("owed"), F.bit_xor("read_hash").alias("owed_x"), F.sum(_folded()).alias("owed_s"))
    )


def _folded() -> Column:
    """A hash small enough to be summed up without overflow."""
    return F.col("read_hash").bitwiseAND(F.lit(0x7FFF_FFFF))
