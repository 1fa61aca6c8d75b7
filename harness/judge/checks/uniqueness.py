"""No value is in the committed log twice, and no input has two outputs in one topic."""

from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from harness.judge.check import Check, Examined, findings, say
from harness.judge.frames.segments import COMMITTED
from harness.judge.judge_context import JudgeContext


def examine(scene: JudgeContext) -> Examined:
    """Witnesses: records of the committed log."""
    found = []
    if scene.close is not None:
        twice = scene.close.records.where("anomaly = 'duplicate'")
        found.append(_named(twice, say("record %s/%s is in the committed log once more", "txn", "ordinal"), "number"))
    if scene.census.relayed:
        found.append(_outputs(scene))
    return Examined(
        witnesses=scene.census.committed, findings=found, reason="the committed log has no records of the history"
    )


def _outputs(scene: JudgeContext) -> DataFrame:
    committed = scene.right(scene.log.where((F.col("status") == COMMITTED) & F.col("input_offset").isNotNull()))
    topics = F.broadcast(scene.ground.rows.select("place", "topic"))
    same = Window.partitionBy("topic", "input", "input_offset").orderBy("txn", "ordinal", "place", "offset")
    rows = committed.join(topics, "place").withColumn("first", F.first("txn").over(same))
    again = rows.withColumn("nth", F.row_number().over(same)).where("nth > 1")
    detail = say("transactions %s and %s both have an output of the input at offset %s", "first", "txn", "input_offset")
    return _named(again, detail)


def _named(rows: DataFrame, detail: Any, number: str | None = None) -> DataFrame:
    operations = None if number is None else F.array_compact(F.array(number))
    columns = {"txn": "txn", "place": "place", "offset": "offset", "producer_id": "pid", "epoch": "epoch"}
    return findings(
        rows, anomaly=F.lit("duplicate"), detail=detail, view=F.lit("log"), operations=operations, **columns
    )


CHECK = Check(
    name="values-are-unique",
    statement="No value is in the committed log twice, and no input was carried twice to one topic.",
    anomalies=("duplicate",),
    examine=examine,
)
