"""Records of one actor are in the committed log in the order in which it produced them, partition by partition.

The log tells at once whether the records of each producer id are in the order of (transaction, ordinal). That is the
order of the operations where an actor's transactions are numbered in their order and it has kept one producer id,
which is looked up a row a transaction; only the rest is sorted again by operations.
"""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from harness.judge.check import Check, Examined, findings, say
from harness.judge.frames.segments import COMMITTED
from harness.judge.frames.transactions import by_actor
from harness.judge.judge_context import JudgeContext


def examine(scene: JudgeContext) -> Examined:
    """Witnesses: records of the committed log."""
    rows = scene.transactions.where("actor IS NOT NULL AND pid IS NOT NULL AND committed > 0")
    unsure = _unsure(rows)
    found = [_found(scene, unsure)] if scene.census.unsorted or unsure.limit(1).count() else []
    return Examined(
        witnesses=scene.census.committed, findings=found, reason="the committed log has no records of the history"
    )


def _unsure(rows: DataFrame) -> DataFrame:
    """Transactions whose actor did not number them in their order, or changed its producer id."""
    before = F.lag("upto").over(by_actor())
    changed = (F.lag("pid").over(by_actor()) != F.col("least_pid")) | (F.col("pid") != F.col("least_pid"))
    return rows.select("*", ((before > F.col("number")) | changed).alias("unsure")).where("unsure").drop("unsure")


def _found(scene: JudgeContext, unsure: DataFrame) -> DataFrame:
    actors = unsure.select("actor").distinct()
    theirs = scene.transactions.join(actors, "actor", "left_semi").select("least_pid", "pid")
    crossed = scene.transactions.where("unsorted > 0 AND pid IS NOT NULL").select("least_pid", "pid")
    pids = theirs.union(crossed).select(F.explode(F.array("least_pid", "pid")).alias("pid")).distinct()
    committed = scene.log.where((F.col("status") == COMMITTED) & F.col("txn").isNotNull())
    rows = scene.right(committed.join(pids, "pid", "left_semi"))
    writes = scene.operations.where("verb = 'produce' AND ordinal IS NOT NULL")
    writes = writes.select("txn", "ordinal", "actor", "number", "started", "ended")
    in_log = Window.partitionBy("place", "actor").orderBy("offset")
    one = rows.join(writes, ["txn", "ordinal"])
    seen = one.select(
        "*", F.lag("number").over(in_log).alias("other"), F.lag("started").over(in_log).alias("other_started")
    )
    return _named(seen.where("other > number AND other_started >= ended"))


def _named(rows: DataFrame) -> DataFrame:
    return findings(
        rows,
        anomaly=F.lit("reordered"),
        detail=say("record %s/%s comes after one that operation %s wrote later", "txn", "ordinal", "other"),
        view=F.lit("log"),
        txn="txn",
        actor="actor",
        place="place",
        offset="offset",
        producer_id="pid",
        epoch="epoch",
        operations=F.array("number", "other"),
    )


CHECK = Check(
    name="order-is-kept",
    statement="On each partition the records of an actor are committed in the order in which it wrote them.",
    anomalies=("reordered",),
    examine=examine,
)
