"""A producer that was fenced is refused: nothing that it asks for from then on is acknowledged (KIP-360, KIP-890)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.judge.check import Check, Examined, findings, sentence
from harness.judge.judge_context import JudgeContext


def examine(context: JudgeContext) -> Examined:
    """Witnesses: transactions with a produce or commit that began after their producer was fenced."""
    return Examined(
        witnesses=context.totals.challenged,
        findings=[_named(_defied(context), context)] if context.totals.defied else [],
        reason="no producer went on after it was fenced",
    )


def _defied(context: JudgeContext) -> DataFrame:
    """Transactions that went on with success; what became visible behind the same fence has a name of its own."""
    rows = context.transactions.where("defied").select("txn", "fence", "done", "offsets")
    if context.audit is None:
        return rows
    visible = context.audit.anomalies.where("anomaly = 'fenced-but-visible' AND fenced_by IS NOT NULL")
    return rows.join(visible.select(F.col("fenced_by").alias("fence")).distinct(), "fence", "left_anti")


def _named(rows: DataFrame, context: JudgeContext) -> DataFrame:
    fences = context.inits.select(F.col("number").alias("fence"), F.col("ended").alias("since"))
    asked = context.operations.where("verb IN ('produce', 'commit') AND outcome = 'done'")
    asked = asked.select("txn", "number", "verb", "actor", "started", "producer_id", "epoch")
    late = rows.join(fences, "fence").join(asked, "txn").where("started > since")
    first = late.groupBy("txn", "fence").agg(F.min(F.struct(*asked.columns[1:])).alias("one"))
    return findings(
        first,
        anomaly=F.lit("fenced-but-acknowledged"),
        detail=sentence("%s %s was done after operation %s had fenced its producer", "one.verb", "one.number", "fence"),
        txn="txn",
        actor="one.actor",
        producer_id="one.producer_id",
        epoch="one.epoch",
        operations=F.array("one.number", "fence"),
    )


CHECK = Check(
    name="fenced-producers-are-refused",
    statement="Once a newer init of its transactional id is done, no produce and no commit of a producer is done.",
    anomalies=("fenced-but-acknowledged",),
    examine=examine,
)
