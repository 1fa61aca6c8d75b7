"""No producer id and epoch is handed out twice, and no producer id to two transactional ids (KIP-360, KIP-890)."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.judge.check import Check, Examined, findings, sentence
from harness.judge.frames.different_values import bits_of_64, different_of_64
from harness.judge.frames.transaction_totals import ends_that_handed_out, epoch_block
from harness.judge.judge_context import JudgeContext
from harness.spark.session.driver_rows import collect_rows


def examine(context: JudgeContext) -> Examined:
    """Witnesses: identities that were handed out."""
    inits = context.inits.where("outcome = 'done' AND producer_id IS NOT NULL").select(
        F.col("producer_id").alias("pid"), "epoch", "number", F.xxhash64("transactional_id").alias("tid")
    )
    begun = inits.select("pid", "epoch", "number").where("epoch IS NOT NULL")
    blocks, again = _blocks(begun, context.blocks.where("pid IS NOT NULL")), F.col("times") > F.col("different")
    epochs = blocks.agg(F.sum("times"), F.count(F.when(again, 1)))
    ids = inits.groupBy("pid").agg(F.min("tid").alias("least"), F.max("tid").alias("most")).where("least <> most")
    ((handed_out, twice, shared),) = collect_rows(epochs.crossJoin(ids.agg(F.count("*"))))
    found = []
    if twice:
        handed = begun.union(_ended(context.transactions))
        found.append(_epochs(handed.join(blocks.where(again).select("pid"), "pid", "left_semi")))
    if shared:
        found.append(_producers(context.inits, ids.select("pid")))
    return Examined(witnesses=handed_out or 0, findings=found, reason="no identity that was handed out is known")


def _blocks(begun: DataFrame, ended: DataFrame) -> DataFrame:
    """Of each producer id and block of epochs: how often one was handed out, and how many different ones."""
    by_inits = begun.groupBy("pid", epoch_block("epoch").alias("block")).agg(
        F.count("*").alias("times"), bits_of_64("epoch").alias("epochs")
    )
    both = by_inits.union(ended.select(*by_inits.columns)).groupBy("pid", "block")
    return both.agg(F.sum("times").alias("times"), different_of_64(F.bit_or("epochs")).alias("different"))


def _ended(transactions: DataFrame) -> DataFrame:
    ended = transactions.where(ends_that_handed_out())
    return ended.select(F.col("end_pid").alias("pid"), F.col("end_epoch").alias("epoch"), "end_number")


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
