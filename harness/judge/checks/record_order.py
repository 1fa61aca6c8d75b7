"""Records of one actor are in the committed log in the order in which it produced them, partition by partition.

Whether the records of each producer id are in the order of (transaction, ordinal) is a column of the log. That is the
order of the operations where an actor's transactions are numbered in their order and it has kept one producer id,
which is compared a row a transaction; only the rest is compared with the operations.
"""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from harness.judge.check import OF_RECORD, Check, Examined, findings, sentence
from harness.judge.frames.segments import COMMITTED
from harness.judge.frames.transactions import by_actor
from harness.judge.judge_context import JudgeContext


def examine(context: JudgeContext) -> Examined:
    """Witnesses: records of the committed log."""
    rows = context.transactions.where("actor IS NOT NULL AND pid IS NOT NULL AND committed > 0")
    unsure = _unsure(rows)
    found = [_found(context, unsure)] if context.totals.unsorted or unsure.limit(1).count() else []
    return Examined(
        witnesses=context.totals.committed, findings=found, reason="the committed log has no records of the history"
    )


def _unsure(rows: DataFrame) -> DataFrame:
    """Transactions whose actor did not number them in their order, or changed its producer id."""
    before = F.lag("upto").over(by_actor())
    changed = (F.lag("pid").over(by_actor()) != F.col("least_pid")) | (F.col("pid") != F.col("least_pid"))
    return rows.select("*", ((before > F.col("number")) | changed).alias("unsure")).where("unsure").drop("unsure")


def _found(context: JudgeContext, unsure: DataFrame) -> DataFrame:
    actors = unsure.select("actor").distinct()
    theirs = context.transactions.join(actors, "actor", "left_semi").select("least_pid", "pid")
    crossed = context.transactions.where("unsorted > 0 AND pid IS NOT NULL").select("least_pid", "pid")
    pids = theirs.union(crossed).select(F.explode(F.array("least_pid", "pid")).alias("pid")).distinct()
    committed = context.log.where((F.col("status") == COMMITTED) & F.col("txn").isNotNull())
    rows = context.without_anomalies(committed.join(pids, "pid", "left_semi"))
    writes = context.operations.where("verb = 'produce' AND ordinal IS NOT NULL")
    writes = writes.select("txn", "ordinal", "actor", "number", "started", "ended")
    in_log = Window.partitionBy("partition_id", "actor").orderBy("offset")
    one = rows.join(writes, ["txn", "ordinal"])
    before = {"other": "number", "other_started": "started", "other_txn": "txn"}
    seen = one.select("*", *(F.lag(column).over(in_log).alias(name) for name, column in before.items()))
    # Writes of one transaction may overlap; what one producer has in flight is still written in its order (KIP-98).
    return _named(seen.where("other > number AND (other_started >= ended OR other_txn = txn)"))


def _named(rows: DataFrame) -> DataFrame:
    return findings(
        rows,
        anomaly=F.lit("reordered"),
        detail=sentence("record %s/%s comes after one that operation %s wrote later", "txn", "ordinal", "other"),
        view=F.lit("log"),
        actor="actor",
        **OF_RECORD,
        operations=F.array("number", "other"),
    )


CHECK = Check(
    name="order-is-kept",
    statement="On each partition the records of an actor are committed in the order in which it wrote them.",
    anomalies=("reordered",),
    examine=examine,
)
