"""Money neither comes nor goes: what a transaction's records move in the committed log sums to nothing."""

from pyspark.sql import functions as F

from harness.judge.check import Check, Examined, findings, sentence
from harness.judge.checks.atomicity import record_states
from harness.judge.judge_context import JudgeContext


def examine(context: JudgeContext) -> Examined:
    """Witnesses: transactions with money in the committed log."""
    found = []
    if context.audit is not None and context.totals.money:
        kept = (
            record_states(context.audit)
            .groupBy("txn")
            .agg(F.count(F.when(F.col("state") != "right", 1)).alias("not_right"))
        )
        # What is missing or wrong has its own name; what was never acknowledged need not be there.
        explained = context.audit.anomalies.select("txn").union(kept.where("not_right > 0").select("txn"))
        rows = context.audit.fates.where("amount <> 0").join(explained, "txn", "left_anti")
        where = context.audit.records.groupBy("txn").agg(
            F.min(F.struct("partition_id", "offset", "writer")).alias("at")
        )
        detail = sentence("the amounts of transaction %s sum to %s", "txn", "amount")
        found.append(
            findings(
                rows.join(where, "txn"),
                anomaly=F.lit("broken-sum"),
                detail=detail,
                view=F.lit("log"),
                txn="txn",
                actor="at.writer",
                partition_id="at.partition_id",
                offset="at.offset",
                operations=F.array("number", "upto"),
            )
        )
    return Examined(
        witnesses=context.totals.money,
        findings=found,
        undecided=context.partitions.lacking if context.totals.money else "",
        reason="no transaction moved money",
    )


CHECK = Check(
    name="money-is-conserved",
    statement="The amounts that a transaction moves sum to 0 in the committed log.",
    anomalies=("broken-sum",),
    examine=examine,
)
