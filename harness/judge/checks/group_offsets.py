"""A group's offsets and the outputs of its relays go together: both are in the transaction, or neither.

A group's transactions are those that sent its offsets. What it consumes and produces is known by ``relay:`` payloads.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.judge.check import Check, Examined, findings, say
from harness.judge.checks.atomicity import broken
from harness.judge.frames.segments import COMMITTED, OPEN, UNKNOWN
from harness.judge.frames.transactions import PROMISED
from harness.judge.judge_context import JudgeContext
from harness.judge.partitions import name_of

OUTPUT = ["group", "input", "input_offset"]


def examine(scene: JudgeContext) -> Examined:
    """Witnesses: records in the committed log that are outputs of a group's transactions."""
    if "offsets" in scene.history.missing:
        return Examined(witnesses=0, reason="there is no table of the groups' offsets")
    if not scene.census.groups:
        return Examined(witnesses=0, reason="no transaction sent a group's offsets")
    sent = _sent(scene)
    outputs = _outputs(scene, sent)
    witnesses = outputs.where(F.col("status") == COMMITTED).count()
    found = [_without_offsets(scene, outputs, sent), _without_records(scene, outputs, sent)] if witnesses else []
    return Examined(
        witnesses=witnesses,
        findings=found,
        undecided=scene.ground.lacking,
        reason="no output of a group's transactions is in the committed log",
    )


def _sent(scene: JudgeContext) -> DataFrame:
    """What transactions asked for: txn, group, input, next, done, actor, number."""
    rows = scene.operations.where("verb = 'send_offsets'")
    return rows.select(
        "txn",
        "group",
        name_of(F.concat_ws("-", "topic", "partition")).alias("input"),
        F.col("offset").alias("next"),
        (F.col("outcome") == "done").alias("done"),
        "actor",
        "number",
    )


def _outputs(scene: JudgeContext, sent: DataFrame) -> DataFrame:
    """The log's records that are outputs of a group's transactions; those of the committed log as they should be."""
    groups = sent.select("txn", "group").distinct()
    return scene.log.where("input_offset IS NOT NULL AND txn IS NOT NULL").join(groups, "txn")


def _kept(scene: JudgeContext) -> DataFrame:
    """What groups have: group, place, input, kept."""
    rows = scene.ground.numbered(scene.history.tables["offsets"]).withColumnRenamed("offset", "kept")
    return rows.select("group", "place", "kept", name_of(F.concat_ws("-", "topic", "partition")).alias("input"))


def _without_offsets(scene: JudgeContext, outputs: DataFrame, sent: DataFrame) -> DataFrame:
    """Outputs in the committed log whose transaction certainly sent offsets past the input, which the group has not."""
    certain = sent.where("done").drop("done")
    right = scene.right(outputs.where(F.col("status") == COMMITTED)).withColumnRenamed("place", "at")
    rows = right.join(certain, ["txn", "group", "input"]).where("input_offset < next")
    rows = rows.join(F.broadcast(_kept(scene).drop("place")), ["group", "input"]).where("kept <= input_offset")
    return findings(
        rows,
        anomaly=F.lit("records-without-offsets"),
        detail=say(
            "record %s/%s is the output of the input at %s, which group %s, at %s, has not passed",
            *("txn", "ordinal", "input_offset", "group", "kept"),
        ),
        view=F.lit("log"),
        txn="txn",
        actor="actor",
        place="at",
        offset="offset",
        producer_id="pid",
        epoch="epoch",
        operations=F.array("number"),
    )


def _without_records(scene: JudgeContext, outputs: DataFrame, sent: DataFrame) -> DataFrame:
    """Inputs that a group has passed, without an output that is there, may be there, or has a name of its own."""
    may_be = outputs.where(F.col("status").isin(COMMITTED, OPEN, UNKNOWN)).select(*OUTPUT)
    tried = _tried(scene, sent)
    covered = may_be.union(_promised(scene, tried)).distinct()
    relayed = F.broadcast(outputs.select("group", "input").distinct())
    kept = _kept(scene).where("kept > 0").join(relayed, ["group", "input"], "left_semi")
    inputs = scene.log.where(F.col("status") == COMMITTED).select(
        "place", F.col("offset").alias("input_offset"), F.col("txn").alias("of"), F.col("ordinal").alias("nth")
    )
    passed = inputs.join(F.broadcast(kept), "place").where("input_offset < kept")
    last = tried.groupBy(*OUTPUT).agg(F.max(F.struct("number", "txn", "actor")).alias("by"))
    return findings(
        passed.join(covered, OUTPUT, "left_anti").join(last, OUTPUT, "left"),
        anomaly=F.lit("offsets-without-records"),
        detail=say(
            "group %s is at %s, past record %s/%s, whose output the committed log lacks", "group", "kept", "of", "nth"
        ),
        view=F.lit("log"),
        txn="by.txn",
        actor="by.actor",
        place="place",
        offset="input_offset",
        operations=F.array_compact(F.array("by.number")),
    )


def _tried(scene: JudgeContext, sent: DataFrame) -> DataFrame:
    """Every try of a group's transaction to write an output: group, input, input_offset, txn, actor, number, done."""
    source = F.expr("substring(payload, 7)")
    writes = scene.operations.where("verb = 'produce' AND payload LIKE 'relay:%'").select(
        "txn",
        "actor",
        "number",
        (F.col("outcome") == "done").alias("done"),
        name_of(F.substring_index(source, "@", 1)).alias("input"),
        F.substring_index(source, "@", -1).try_cast("long").alias("input_offset"),
    )
    return writes.join(sent.select("txn", "group").distinct(), "txn")


def _promised(scene: JudgeContext, tried: DataFrame) -> DataFrame:
    """Outputs whose absence is a lost commit or a torn transaction."""
    promised = scene.transactions.where(F.col("fate") == PROMISED).select("txn")
    if scene.close is not None:
        promised = promised.union(broken(scene.close).where("anomaly IS NOT NULL").select("txn"))
    return tried.where("done").join(promised, "txn", "left_semi").select(*OUTPUT)


CHECK = Check(
    name="offsets-match-records",
    statement="A group's offset is past an input if and only if the input's output is in the committed log.",
    anomalies=("offsets-without-records", "records-without-offsets"),
    examine=examine,
)
