"""Views: who read what, how far, and which of them agree with the committed log at once.

A reader that comes to a partition's end owes it every record of the committed log below that end, once. Whether it
delivered just that is told by a fingerprint: the count, the exclusive or and the sum of 64-bit hashes of all that it
delivered and of all that it owes. Only what disagrees is looked at record by record.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from harness.judge.frames.segments import COMMITTED, mark, printed
from harness.judge.judge_context import JudgeContext

ACTOR = "actor"
PAIR = ["reader", "place"]


def views(scene: JudgeContext) -> DataFrame:
    """All views of the history, compared by fingerprint.

    A row a (reader, place) that delivered something or came to an end there: reader, place, kind, isolation, end (null:
    unknown), wanted, delivered (records), agrees.
    """
    readers = _readers(scene)
    ends = readers.groupBy(*PAIR).agg(F.max("end").alias("end"), F.max("wanted").alias("wanted"))
    given = _delivered(scene)
    owed = _owed(scene, ends.select("place", "end").distinct())
    kinds = readers.groupBy("reader").agg(F.max("kind").alias("kind"), F.max("isolation").alias("isolation"))
    pairs = ends.join(given, PAIR, "full").join(kinds, "reader", "left").withColumns(_untold())
    rows = pairs.join(owed, ["place", "end"], "left").na.fill(0, ["delivered", "given_x", "given_s", "owed"])
    rows = rows.na.fill(0, ["owed_x", "owed_s"]).withColumn("agrees", _agrees())
    return rows.select("reader", "place", "kind", "isolation", "end", "wanted", "delivered", "agrees")


def _untold() -> dict[str, Column]:
    """A reader that no row of ``readers`` tells of is taken for an actor's own: nothing is missing for it."""
    return {
        "kind": F.coalesce("kind", F.lit(ACTOR)),
        "isolation": F.coalesce("isolation", F.lit("read_committed")),
    }


def _agrees() -> Column:
    same = (F.col("delivered") == F.col("owed")) & (F.col("given_x") == F.col("owed_x"))
    same &= F.col("given_s") == F.col("owed_s")
    return F.coalesce(same & (F.col("kind") != ACTOR) & (F.col("isolation") == "read_committed"), F.lit(False))


def _readers(scene: JudgeContext) -> DataFrame:
    rows = scene.ground.numbered(scene.history.tables["readers"])
    return rows.select("reader", "place", "kind", "isolation", "wanted", F.col("end_offset").alias("end"))


def _delivered(scene: JudgeContext) -> DataFrame:
    rows = scene.history.tables["reads"]
    rows = rows.select("reader", "topic", "partition", printed(mark()).alias("print"))
    counted = rows.groupBy("reader", "topic", "partition").agg(
        F.count("*").alias("delivered"), F.bit_xor("print").alias("given_x"), F.sum(_folded()).alias("given_s")
    )
    return scene.ground.numbered(counted).drop("topic", "partition")


def _owed(scene: JudgeContext, ends: DataFrame) -> DataFrame:
    rows = scene.log.where(F.col("status") == COMMITTED).join(F.broadcast(ends), "place").where("offset < end")
    return (
        rows.withColumn("print", printed())
        .groupBy("place", "end")
        .agg(F.count("*").alias("owed"), F.bit_xor("print").alias("owed_x"), F.sum(_folded()).alias("owed_s"))
    )


def _folded() -> Column:
    """A hash small enough to be summed up without overflow."""
    return F.col("print").bitwiseAND(F.lit(0x7FFF_FFFF))
