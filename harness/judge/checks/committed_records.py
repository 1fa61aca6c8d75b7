"""Every record of the committed log is one that a producer wrote, rightly, in a transaction that was committed."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.judge.check import OF_RECORD, Check, Examined, findings, sentence
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


def examine(context: JudgeContext) -> Examined:
    """Witnesses: records of the committed log that belong to transactions of the history."""
    found = []
    if context.audit is not None:
        found.append(_named(context.audit.anomalies.where(F.col("anomaly").isin(*ANOMALIES))))
    if context.totals.foreign:
        foreign = context.log.where((F.col("status") == COMMITTED) & F.col("txn").isNull())
        found.append(_named(foreign.select("*", *_unknown_columns())))
    return Examined(
        witnesses=context.totals.committed, findings=found, reason="the committed log has no records of the history"
    )


def _unknown_columns() -> list[object]:
    columns = {"number": "long", "writer": "string", "owner": "long", "error": "long", "fenced_by": "long"}
    nothing = [F.lit(None).cast(kind).alias(name) for name, kind in columns.items()]
    return [*nothing, F.lit(False).alias("fenced"), F.lit("unknown-record").alias("anomaly")]


def _named(rows: DataFrame) -> DataFrame:
    return findings(
        rows,
        anomaly="anomaly",
        detail=_detail(),
        view=F.lit("log"),
        actor="writer",
        **OF_RECORD,
        operations=F.array_compact(F.array("number", "fenced_by")),
    )


def _detail() -> object:
    anomaly, record = F.col("anomaly"), ("txn", "ordinal")
    unknown = F.when(F.col("txn").isNull(), F.lit("the log has a committed record that is none of the history's"))
    return (
        F.when(
            anomaly == "unknown-record", unknown.otherwise(sentence("no operation wrote record %s/%s there", *record))
        )
        .when(anomaly == "altered-record", sentence("record %s/%s is not what was written", *record))
        .when(
            anomaly == "fenced-but-visible",
            F.when(
                F.col("fenced"), sentence("record %s/%s was refused with error %s and is committed", *record, "error")
            ).otherwise(
                sentence("record %s/%s was written after operation %s had fenced its producer", *record, "fenced_by")
            ),
        )
        .when(anomaly == "refused-but-visible", sentence("record %s/%s was refused with error %s", *record, "error"))
        .when(
            anomaly == "leaked-into-next",
            F.when(
                F.col("owner") != F.col("txn"),
                sentence("record %s/%s was committed by transaction %s", *record, "owner"),
            ).otherwise(sentence("record %s/%s was committed after its transaction had ended there", *record)),
        )
        .otherwise(sentence("record %s/%s is committed, its transaction never was", *record))
    )


CHECK = Check(
    name="records-are-accounted-for",
    statement="Every record of the committed log was written there by a transaction that was committed.",
    anomalies=ANOMALIES,
    examine=examine,
)
