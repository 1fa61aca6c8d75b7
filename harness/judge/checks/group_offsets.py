"""A group's offsets and the outputs of its relays go together: both are in the transaction, or neither.

A group's transactions are those that sent its offsets. What it consumes and produces is known by ``relay:`` payloads.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.judge.check import Check, Examined, findings, sentence
from harness.judge.checks.atomicity import broken
from harness.judge.frames.segments import COMMITTED, OPEN, UNKNOWN
from harness.judge.frames.transactions import PROMISED
from harness.judge.judge_context import JudgeContext
from harness.judge.partitions import partition_hash

OUTPUT = ["group", "input", "input_offset"]


def examine(context: JudgeContext) -> Examined:
    """Witnesses: records in the committed log that are outputs of a group's transactions."""
    if "offsets" in context.history.missing:
        return Examined(witnesses=0, reason="there is no table of the groups' offsets")
    if not context.totals.groups:
        return Examined(witnesses=0, reason="no transaction sent a group's offsets")
    sent = _sent(context)
    outputs = _outputs(context, sent)
    witnesses = outputs.where(F.col("status") == COMMITTED).count()
    found = [_without_offsets(context, outputs, sent), _without_records(context, outputs, sent)] if witnesses else []
    return Examined(
        witnesses=witnesses,
        findings=found,
        undecided=context.partitions.lacking,
        reason="no output of a group's transactions is in the committed log",
    )


def _sent(context: JudgeContext) -> DataFrame:
    """What transactions asked for: txn, group, input, next, done, actor, number."""
    rows = context.operations.where("verb = 'send_offsets'")
    return rows.select(
        "txn",
        "group",
        partition_hash(F.concat_ws("-", "topic", "partition")).alias("input"),
        F.col("offset").alias("next"),
        (F.col("outcome") == "done").alias("done"),
        "actor",
        "number",
    )


def _outputs(context: JudgeContext, sent: DataFrame) -> DataFrame:
    """The log's records that are outputs of a group's transactions; those of the committed log as they should be."""
    groups = sent.select("txn", "group").distinct()
    return context.log.where("input_offset IS NOT NULL AND txn IS NOT NULL").join(groups, "txn")


def _kept(context: JudgeContext) -> DataFrame:
    """What groups have: group, partition_id, input, kept."""
    rows = context.partitions.numbered(context.tables["offsets"]).withColumnRenamed("offset", "kept")
    return rows.select(
        "group", "partition_id", "kept", partition_hash(F.concat_ws("-", "topic", "partition")).alias("input")
    )


def _without_offsets(context: JudgeContext, outputs: DataFrame, sent: DataFrame) -> DataFrame:
    """Outputs in the committed log whose transaction certainly sent offsets past the input, which the group has not."""
    certain = sent.where("done").drop("done")
    right = context.without_anomalies(outputs.where(F.col("status") == COMMITTED)).withColumnRenamed(
        "partition_id", "at"
    )
    rows = right.join(certain, ["txn", "group", "input"]).where("input_offset < next")
    rows = rows.join(F.broadcast(_kept(context).drop("partition_id")), ["group", "input"]).where("kept <= input_offset")
    return findings(
        rows,
        anomaly=F.lit("records-without-offsets"),
        detail=sentence(
            "record %s/%s is the output of the input at %s, which group %s, at %s, has not passed",
            *("txn", "ordinal", "input_offset", "group", "kept"),
        ),
        view=F.lit("log"),
        txn="txn",
        actor="actor",
        partition_id="at",
        offset="offset",
        producer_id="pid",
        epoch="epoch",
        operations=F.array("number"),
    )


def _without_records(context: JudgeContext, outputs: DataFrame, sent: DataFrame) -> DataFrame:
    """Inputs that a group has passed, without an output that is there, may be there, or has a name of its own."""
    may_be = outputs.where(F.col("status").isin(COMMITTED, OPEN, UNKNOWN)).select(*OUTPUT)
    tried = _tried(context, sent)
    covered = may_be.union(_promised(context, tried)).distinct()
    relayed = F.broadcast(outputs.select("group", "input").distinct())
    kept = _kept(context).where("kept > 0").join(relayed, ["group", "input"], "left_semi")
    inputs = context.log.where(F.col("status") == COMMITTED).select(
        "partition_id", F.col("offset").alias("input_offset"), F.col("txn").alias("of"), F.col("ordinal").alias("nth")
    )
    passed = inputs.join(F.broadcast(kept), "partition_id").where("input_offset < kept")
    last = tried.groupBy(*OUTPUT).agg(F.max(F.struct("number", "txn", "actor")).alias("by"))
    return findings(
        passed.join(covered, OUTPUT, "left_anti").join(last, OUTPUT, "left"),
        anomaly=F.lit("offsets-without-records"),
        detail=sentence(
            "group %s is at %s, past record %s/%s, whose output the committed log lacks", "group", "kept", "of", "nth"
        ),
        view=F.lit("log"),
        txn="by.txn",
        actor="by.actor",
        partition_id="partition_id",
        offset="input_offset",
        operations=F.array_compact(F.array("by.number")),
    )


def _tried(context: JudgeContext, sent: DataFrame) -> DataFrame:
    """Every try of a group's transaction to write an output: group, input, input_offset, txn, actor, number, done."""
    source = F.expr("substring(payload, 7)")
    writes = context.operations.where("verb = 'produce' AND payload LIKE 'relay:%'").select(
        "txn",
        "actor",
        "number",
        (F.col("outcome") == "done").alias("done"),
        partition_hash(F.substring_index(source, "@", 1)).alias("input"),
        F.substring_index(source, "@", -1).try_cast("long").alias("input_offset"),
    )
    return writes.join(sent.select("txn", "group").distinct(), "txn")


def _promised(context: JudgeContext, tried: DataFrame) -> DataFrame:
    """Outputs whose absence is a lost commit or a torn transaction."""
    promised = context.transactions.where(F.col("fate") == PROMISED).select("txn")
    if context.audit is not None:
        promised = promised.union(broken(context.audit).where("anomaly IS NOT NULL").select("txn"))
    return tried.where("done").join(promised, "txn", "left_semi").select(*OUTPUT)


CHECK = Check(
    name="offsets-match-records",
    statement="A group's offset is past an input if and only if the input's output is in the committed log.",
    anomalies=("offsets-without-records", "records-without-offsets"),
    examine=examine,
)
