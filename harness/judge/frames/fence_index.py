"""When each producer was fenced: by the first init of its transactional id by another actor that is newer than its own.

Newer is what certainly came later: an init that began after one's own had ended, or one that overlapped it and was
handed a higher epoch of the same producer id.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

NEIGHBOURS = (-3, 8)
"""Inits of the same transactional id that are compared, before and after one's own; the earliest newer one is near."""


def fences(operations: DataFrame) -> DataFrame:
    """Inits that were followed by another's: actor (hash), first and last operation number, fenced_at (ms), fence.

    ``fence`` is the number of the other's init. An actor's operations from ``first`` to ``last`` rest on this init.
    """
    inits = operations.where("verb = 'init' AND outcome <> 'refused'").select(
        "number",
        "actor",
        "started",
        "ended",
        F.col("transactional_id").alias("tid"),
        F.col("producer_id").alias("pid"),
        "epoch",
        (F.col("outcome") == "done").alias("done"),
    )
    near = Window.partitionBy("tid").orderBy("started", "number").rowsBetween(*NEIGHBOURS)
    own = Window.partitionBy("actor").orderBy("number")
    others = F.collect_list(F.struct("ended", "number", "started", "actor", "pid", "epoch", "done"))
    seen = inits.select("*", others.over(near).alias("others"), F.lead("number").over(own).alias("next"))
    met = seen.withColumn("met", F.array_min(F.filter("others", _newer))).where("met IS NOT NULL")
    return met.select(
        F.xxhash64("actor").alias("actor"),
        F.col("number").alias("first"),
        F.coalesce(F.col("next") - 1, F.lit(2**62)).alias("last"),
        F.col("met.ended").alias("fenced_at"),
        F.col("met.number").alias("fence"),
    )


def with_fence(rows: DataFrame, fences: DataFrame, actor: Column) -> DataFrame:
    """``rows`` with ``fenced_at`` and ``fence`` of the init on which each row's operation ``number`` rests.

    :param actor: The hash of the operation's actor.
    """
    of_actor = (actor == F.col("fenced_actor")) & F.col("number").between(F.col("first"), F.col("last"))
    known = F.broadcast(fences.withColumnRenamed("actor", "fenced_actor"))
    return rows.join(known, of_actor, "left").drop("fenced_actor", "first", "last")


def _newer(other: Column) -> Column:
    later = other["started"] >= F.col("ended")
    higher = (other["pid"] == F.col("pid")) & (other["epoch"] > F.col("epoch")) & ~F.exists("others", _same_identity)
    return other["done"] & (other["actor"] != F.col("actor")) & F.coalesce(later | higher, later)


def _same_identity(other: Column) -> Column:
    """An init that got the same identity: then epochs do not show which came later."""
    same = (other["pid"] == F.col("pid")) & (other["epoch"] == F.col("epoch"))
    return F.coalesce(same, F.lit(False)) & (other["number"] != F.col("number"))
