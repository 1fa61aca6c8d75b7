"""No value is in the committed log twice, and no input has two outputs in one topic."""

from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from harness.judge.check import OF_RECORD, Check, Examined, findings, sentence
from harness.judge.frames.segments import COMMITTED
from harness.judge.judge_context import JudgeContext


def examine(context: JudgeContext) -> Examined:
    """Witnesses: records of the committed log."""
    found = []
    if context.audit is not None:
        twice = context.audit.records.where("anomaly = 'duplicate'")
        found.append(
            _named(twice, sentence("record %s/%s is in the committed log once more", "txn", "ordinal"), "number")
        )
    if context.totals.relayed:
        found.append(_outputs(context))
    return Examined(
        witnesses=context.totals.committed, findings=found, reason="the committed log has no records of the history"
    )


def _outputs(context: JudgeContext) -> DataFrame:
    committed = context.without_anomalies(
        context.log.where((F.col("status") == COMMITTED) & F.col("input_offset").isNotNull())
    )
    topics = F.broadcast(context.partitions.rows.select("partition_id", "topic"))
    same = Window.partitionBy("topic", "input", "input_offset").orderBy("txn", "ordinal", "partition_id", "offset")
    rows = committed.join(topics, "partition_id").withColumn("first", F.first("txn").over(same))
    again = rows.withColumn("nth", F.row_number().over(same)).where("nth > 1")
    detail = sentence(
        "transactions %s and %s both have an output of the input at offset %s", "first", "txn", "input_offset"
    )
    return _named(again, detail)


def _named(rows: DataFrame, detail: Any, number: str | None = None) -> DataFrame:
    operations = None if number is None else F.array_compact(F.array(number))
    return findings(
        rows, anomaly=F.lit("duplicate"), detail=detail, view=F.lit("log"), operations=operations, **OF_RECORD
    )


CHECK = Check(
    name="values-are-unique",
    statement="No value is in the committed log twice, and no input was carried twice to one topic.",
    anomalies=("duplicate",),
    examine=examine,
)
