"""Every record of the committed log is one that a producer wrote, rightly, in a transaction that was committed."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.judge.check import Check, Examined, findings, say
from harness.judge.frames.segments import COMMITTED
from harness.judge.judge_context import JudgeContext

ANOMALIES = (
    "unknown-record",
    "altered-record",
    "fenced-but-visible",
    "refused-but-visible",
    "leaked-into-next",
    "resurrected",
)


def examine(scene: JudgeContext) -> Examined:
    """Witnesses: records of the committed log that belong to transactions of the history."""
    found = []
    if scene.close is not None:
        found.append(_named(scene.close.anomalies.where(F.col("anomaly").isin(*ANOMALIES))))
    if scene.census.foreign:
        foreign = scene.log.where((F.col("status") == COMMITTED) & F.col("txn").isNull())
        found.append(_named(foreign.select("*", *_nothing_known())))
    return Examined(
        witnesses=scene.census.committed, findings=found, reason="the committed log has no records of the history"
    )


def _nothing_known() -> list[object]:
    columns = {"number": "long", "who_wrote": "string", "owner": "long", "error": "long", "fenced_by": "long"}
    nothing = [F.lit(None).cast(kind).alias(name) for name, kind in columns.items()]
    return [*nothing, F.lit(False).alias("fenced"), F.lit("unknown-record").alias("anomaly")]


def _named(rows: DataFrame) -> DataFrame:
    return findings(
        rows,
        anomaly="anomaly",
        detail=_detail(),
        view=F.lit("log"),
        txn="txn",
        actor="who_wrote",
        place="place",
        offset="offset",
        producer_id="pid",
        epoch="epoch",
        operations=F.array_compact(F.array("number", "fenced_by")),
    )


def _detail() -> object:
    anomaly, record = F.col("anomaly"), ("txn", "ordinal")
    unknown = F.when(F.col("txn").isNull(), F.lit("the log has a committed record that is none of the history's"))
    return (
        F.when(anomaly == "unknown-record", unknown.otherwise(say("no operation wrote record %s/%s there", *record)))
        .when(anomaly == "altered-record", say("record %s/%s is not what was written", *record))
        .when(
            anomaly == "fenced-but-visible",
            F.when(
                F.col("fenced"), say("record %s/%s was refused with error %s and is committed", *record, "error")
            ).otherwise(
                say("record %s/%s was written after operation %s had fenced its producer", *record, "fenced_by")
            ),
        )
        .when(anomaly == "refused-but-visible", say("record %s/%s was refused with error %s", *record, "error"))
        .when(
            anomaly == "leaked-into-next",
            F.when(
                F.col("owner") != F.col("txn"), say("record %s/%s was committed by transaction %s", *record, "owner")
            ).otherwise(say("record %s/%s was committed after its transaction had ended there", *record)),
        )
        .otherwise(say("record %s/%s is committed, its transaction never was", *record))
    )


CHECK = Check(
    name="records-are-accounted-for",
    statement="Every record of the committed log was written there by a transaction that was committed.",
    anomalies=ANOMALIES,
    examine=examine,
)
