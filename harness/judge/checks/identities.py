"""No producer id and epoch is handed out twice, and no producer id to two transactional ids (KIP-360, KIP-890)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.judge.check import Check, Examined, findings, sentence
from harness.judge.frames.different_values import different_of_64
from harness.judge.judge_context import JudgeContext
from harness.spark.session.driver_rows import collect_rows


def examine(context: JudgeContext) -> Examined:
    """Witnesses: identities that were handed out."""
    inits = context.inits.where("outcome = 'done' AND producer_id IS NOT NULL").select(
        F.col("producer_id").alias("pid"), "epoch", "number", F.xxhash64("transactional_id").alias("tid")
    )
    handed = inits.select("pid", "epoch", "number").where("epoch IS NOT NULL").union(_ends(context.transactions))
    blocks, again = _blocks(handed), F.col("times") > F.col("different")
    epochs = blocks.agg(F.sum("times"), F.count(F.when(again, 1)))
    ids = inits.groupBy("pid").agg(F.min("tid").alias("least"), F.max("tid").alias("most")).where("least <> most")
    ((handed_out, twice, shared),) = collect_rows(epochs.crossJoin(ids.agg(F.count("*"))))
    found = []
    if twice:
        found.append(_epochs(handed.join(blocks.where(again).select("pid"), "pid", "left_semi")))
    if shared:
        found.append(_producers(context.inits, ids.select("pid")))
    return Examined(witnesses=handed_out or 0, findings=found, reason="no identity that was handed out is known")


def _ends(transactions: DataFrame) -> DataFrame:
    """An end of Transactions V2 hands out an epoch when there was something to end."""
    ended = transactions.where("end_pid IS NOT NULL AND end_epoch IS NOT NULL AND done + offsets > 0")
    return ended.select(F.col("end_pid").alias("pid"), F.col("end_epoch").alias("epoch"), "end_number")


def _blocks(handed: DataFrame) -> DataFrame:
    """Of each producer id and 64 epochs: how often one of them was handed out, and how many different ones."""
    block = handed.groupBy("pid", F.shiftright("epoch", 6))
    return block.agg(F.count("*").alias("times"), different_of_64("epoch").alias("different"))


def _epochs(handed: DataFrame) -> DataFrame:
    rows = handed.groupBy("pid", "epoch").agg(F.array_sort(F.collect_list("number")).alias("numbers"))
    numbers = rows.where(F.size("numbers") > 1)
    return findings(
        numbers,
        anomaly=F.lit("epoch-reuse"),
        detail=sentence("producer id %s was handed out with epoch %s %s times", "pid", "epoch", F.size("numbers")),
        producer_id="pid",
        epoch="epoch",
        operations=F.slice("numbers", 1, 10),
    )


def _producers(inits: DataFrame, ids: DataFrame) -> DataFrame:
    done = inits.where("outcome = 'done'").withColumn("pid", F.col("producer_id"))
    rows = done.join(ids, "pid", "left_semi").groupBy("pid")
    numbers = rows.agg(
        F.array_sort(F.collect_set("transactional_id")).alias("names"),
        F.array_sort(F.collect_list("number")).alias("numbers"),
    )
    return findings(
        numbers,
        anomaly=F.lit("producer-id-reuse"),
        detail=sentence("producer id %s was handed to %s", "pid", F.array_join(F.slice("names", 1, 5), " and ")),
        producer_id="pid",
        operations=F.slice("numbers", 1, 10),
    )


CHECK = Check(
    name="identities-are-fresh",
    statement="No producer id and epoch was handed out twice, and no producer id to two transactional ids.",
    anomalies=("epoch-reuse", "producer-id-reuse"),
    examine=examine,
)
