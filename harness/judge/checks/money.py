"""Money neither comes nor goes: what a transaction's records move in the committed log sums to nothing."""

from pyspark.sql import functions as F

from harness.judge.check import Check, Examined, findings, say
from harness.judge.checks.atomicity import accounts
from harness.judge.judge_context import JudgeContext


def examine(scene: JudgeContext) -> Examined:
    """Witnesses: transactions with money in the committed log."""
    found = []
    if scene.close is not None and scene.census.money:
        kept = (
            accounts(scene.close).groupBy("txn").agg(F.count(F.when(F.col("state") != "right", 1)).alias("not_right"))
        )
        # What is missing or wrong has its own name; what was never acknowledged need not be there.
        explained = scene.close.anomalies.select("txn").union(kept.where("not_right > 0").select("txn"))
        rows = scene.close.fates.where("amount <> 0").join(explained, "txn", "left_anti")
        where = scene.close.records.groupBy("txn").agg(F.min(F.struct("place", "offset", "who_wrote")).alias("at"))
        detail = say("the amounts of transaction %s sum to %s", "txn", "amount")
        found.append(
            findings(
                rows.join(where, "txn"),
                anomaly=F.lit("broken-sum"),
                detail=detail,
                view=F.lit("log"),
                txn="txn",
                actor="at.who_wrote",
                place="at.place",
                offset="at.offset",
                operations=F.array("number", "upto"),
            )
        )
    return Examined(
        witnesses=scene.census.money,
        findings=found,
        undecided=scene.ground.lacking if scene.census.money else "",
        reason="no transaction moved money",
    )


CHECK = Check(
    name="money-is-conserved",
    statement="The amounts that a transaction moves sum to 0 in the committed log.",
    anomalies=("broken-sum",),
    examine=examine,
)
