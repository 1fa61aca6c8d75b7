"""What brokers describe after settling is what they appended and answered (DescribeProducers, DescribeTransactions).

A leader keeps of each producer the epoch, the last sequence, the coordinator epoch and the time of the last batch or
marker that it appended (``ProducerStateManager``, ``ProducerStateEntry``). A coordinator's producer id and epoch are
those that it answered last; where they are unchanged nobody has begun anything since, so that its state is what the
last end or init left; brokers list what they describe, and have written it to ``__transaction_state``, from where the
next coordinator takes it. KIP-664 promises it: the requests describe the state of producers and transactions. Brokers
advertise what they did before the run, by which clients choose their protocol (KIP-584; ``CHANGED_OFFERS``).
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from harness.evidence.history.changed_offer import CHANGED_OFFERS, ChangedOffer
from harness.evidence.run_facts import texts_of
from harness.evidence.transaction_states import OVER
from harness.judge.check import Check, Examined, finding_rows, findings, sentence
from harness.judge.judge_context import JudgeContext
from harness.judge.listed_fact import listed_fact
from harness.spark.session.driver_rows import collect_rows

PRODUCERS_ASKED = "producers_asked"
"""Fact of ``run.json``: partitions whose leaders were asked for their producers, and forget none within the run."""


def examine(context: JudgeContext) -> Examined:
    """Witnesses: what was described and can be compared."""
    leaders_told = any(one.described for one in context.partitions.each) or _asked(context)
    described = [*([_producers(context)] if leaders_told else []), _transactions(context)]
    rows = reduce(DataFrame.unionByName, described)
    ((compared, wrong),) = collect_rows(rows.agg(F.count("*"), F.count("wrong")))
    found = [*map(_named, described)] if wrong else []
    if changed := listed_fact(context.history.run, CHANGED_OFFERS, ChangedOffer):
        found.append(finding_rows(context.history.spark, map(_changed, changed)))
    return Examined(witnesses=compared, findings=found, reason="brokers were asked for nothing that they keep")


def _producers(context: JudgeContext) -> DataFrame:
    """A row for each producer of a partition that its leader tells of, or the log: partition_id, pid, epoch, wrong."""
    low = context.partitions.rows.select("partition_id", "low", "complete", _is_asked(context).alias("asked"))
    rows = _told(context).join(_logged(context), ["partition_id", "pid"], "full").join(F.broadcast(low), "partition_id")
    rows = rows.where("complete AND (told IS NOT NULL OR asked)").withColumn("wrong", _wrong_producer())
    return rows.select("partition_id", "pid", F.col("told.epoch").alias("epoch"), "wrong")


def _told(context: JudgeContext) -> DataFrame:
    rows = context.partitions.numbered(context.tables["producers"])
    fields = ("epoch", "last_sequence", "coordinator_epoch", "last_timestamp_ms")
    told = F.max(F.struct(*fields)).alias("told")
    return rows.groupBy("partition_id", F.col("producer_id").alias("pid")).agg(told, F.count("*").alias("times"))


def _logged(context: JudgeContext) -> DataFrame:
    """Of each producer in the log: its last row, last record and last marker; what the log lost is not there.

    Their offsets are known: the maximum of numbers is hashed, that of structs would have the whole log sorted.
    """
    key, offset = ["partition_id", "pid"], F.col("offset")
    ends = _of_producers(context.partitions.producers, context).select(*key, "last", "last_record", "last_marker")
    rows = _of_producers(context.tables["log"], context).where("offset >= low")
    row = F.struct("offset", "epoch", "sequence", "coordinator_epoch", "timestamp_ms")
    found = rows.join(F.broadcast(ends), key).where("offset IN (last, last_record, last_marker)")
    kinds = {"last": "last", "record": "last_record", "marker": "last_marker"}
    ats = (F.max(F.when(offset == F.col(at), row)).alias(kind) for kind, at in kinds.items())
    return found.groupBy(*key).agg(*ats)


def _of_producers(rows: DataFrame, context: JudgeContext) -> DataFrame:
    return context.partitions.numbered(rows.where("producer_id >= 0"), "low").withColumnRenamed("producer_id", "pid")


def _asked(context: JudgeContext) -> Sequence[str]:
    return texts_of(context.history.run, PRODUCERS_ASKED)


def _is_asked(context: JudgeContext) -> Column:
    names = _asked(context)
    return F.concat_ws("-", "topic", "partition").isin(*names) if names else F.lit(False)


def _wrong_producer() -> Column:
    """What is told of a producer and is not so, null where all is; a log that lost its beginning may lack its rows."""
    whole = F.col("low") == 0
    sequence = F.when(F.col("record.epoch") == F.col("last.epoch"), F.col("record.sequence")).otherwise(-1)
    sequence = F.when(F.col("record").isNotNull() | whole, F.coalesce(sequence, F.lit(-1)))
    coordinator = F.when(F.col("marker").isNotNull() | whole, F.coalesce(F.col("marker.coordinator_epoch"), F.lit(-1)))
    text = _named_pid("leader's answer lacks producer id %s, which wrote to the log")
    alone = F.when(whole, _named_pid("leader tells of producer id %s, which the log does not have"))
    return (
        F.when(F.col("told").isNull(), text)
        .when(F.col("times") > 1, _named_pid("leader tells of producer id %s more than once"))
        .when(F.col("last").isNull(), alone)
        .when(F.col("told.epoch") != F.col("last.epoch"), _differs("epoch", "told.epoch", "last.epoch"))
        .when(F.col("told.last_sequence") != sequence, _differs("last sequence", "told.last_sequence", sequence))
        .when(
            F.col("told.coordinator_epoch") != coordinator,
            _differs("coordinator epoch", "told.coordinator_epoch", coordinator),
        )
        .when(
            F.col("told.last_timestamp_ms") < F.col("last.timestamp_ms"),
            _differs("last timestamp", "told.last_timestamp_ms", "last.timestamp_ms"),
        )
    )


def _named_pid(pattern: str) -> Column:
    return sentence(f"the {pattern}", "pid")


def _differs(what: str, told: Any, logged: Any) -> Column:
    pattern = f"the leader gives producer id %s the {what} %s, where the log has %s"
    return sentence(pattern, "pid", told, logged)


def _transactions(context: JudgeContext) -> DataFrame:
    """A row for each transactional id that was described and had been handed an identity: the same columns."""
    kept = context.tables["transactions"].withColumnsRenamed({"producer_id": "pid", "partitions": "places"})
    rows = kept.join(_answered(context), "transactional_id")
    none = F.lit(None).cast("int").alias("partition_id")
    return rows.withColumn("wrong", _wrong_transaction()).select(none, "pid", "epoch", "wrong")


def _answered(context: JudgeContext) -> DataFrame:
    """Of each transactional id: the identity handed out last, and, where that came last of all, what it must be in."""
    ends = context.operations.where("verb IN ('init', 'commit', 'abort', 'ask') AND transactional_id IS NOT NULL")
    ids = F.broadcast(context.tables["transactions"].select("transactional_id").distinct())
    identity = F.struct("ended", F.col("producer_id").alias("id"), F.col("epoch").alias("of_epoch"))
    handed = (F.col("outcome") == "done") & F.col("producer_id").isNotNull() & F.col("epoch").isNotNull()
    rows = ends.join(ids, "transactional_id", "left_semi")
    timeouts = F.collect_set(F.when(F.col("client").startswith("wire-"), F.col("timeout_ms")))
    last = rows.groupBy("transactional_id").agg(
        F.when(F.bool_and(_tells_timeout()) & F.bool_or(F.col("verb") == "init"), timeouts).alias("timeouts"),
        F.max(F.when(handed, identity)).alias("handed"),
        F.max(F.struct("started", "verb", "outcome", "producer_id", "epoch", "txn", "client", "protocol")).alias(
            "asked"
        ),
    )
    known = last.withColumn("txn", F.col("asked.txn")).where("handed IS NOT NULL")
    wrote = context.transactions.where("done > 0").join(F.broadcast(known.select("txn")), "txn", "left_semi")
    return known.join(wrote.select("txn", F.lit(True).alias("wrote")), "txn", "left").drop("txn")


def _tells_timeout() -> Column:
    """Whether an operation asks for no timeout, or for one that is known; libraries may ask for another one.

    An id for which no client of the history began was used before, with a timeout that the history does not tell.
    """
    return (F.col("verb") != "init") | (F.col("client").startswith("wire-") & F.col("timeout_ms").isNotNull())


def _wrong_transaction() -> Column:
    same = (F.col("pid") == F.col("asked.producer_id")) & (F.col("epoch") == F.col("asked.epoch"))
    same &= (F.col("asked.outcome") == "done") & (F.col("asked.verb") != "ask")
    verb = F.col("asked.verb")
    state = F.when(verb == "init", "Empty")
    state = state.when(F.col("wrote"), F.when(verb == "commit", "CompleteCommit").otherwise("CompleteAbort"))
    timeouts = F.array_join(F.col("timeouts").cast("array<string>"), " or ")
    listing = F.concat_ws(" ", "state", "pid")
    listed = F.when(F.col("listed") == "", "nothing").otherwise(F.col("listed"))
    started = F.when(F.col("state").startswith("Complete"), F.col("started_ms")).otherwise(-1)
    record = F.concat_ws(" ", "state", "pid", "epoch", "timeout_ms", F.lit(-1), started)
    ended = same & F.col("wrote") & verb.isin("commit", "abort") & F.col("asked.client").startswith("wire-")
    older = (F.col("pid") == F.col("handed.id")) & (F.col("epoch") < F.col("handed.of_epoch"))
    return (
        F.when(F.col("pid") < 0, _of_id("no producer id", "handed.id"))
        .when(older, _of_id("epoch %s", "handed.of_epoch", "epoch"))
        .when(same & F.col("state").isin(*OVER) & (F.col("state") != state), _of_id("state %s", state, "state"))
        .when(
            F.col("state").isin(*OVER) & (F.col("places") != ""),
            _of_id("open partitions %s", F.lit("none"), "places"),
        )
        .when(F.col("timeout_ms") <= 0, _of_id("timeout %s", F.lit("more than 0 ms"), "timeout_ms"))
        .when(F.col("listed") != listing, sentence(LISTED_OTHERWISE, "transactional_id", listing, listed))
        .when(
            F.col("state").isin(*OVER) & (F.col("recorded") != record),
            sentence(RECORDED_OTHERWISE, "transactional_id", record, "recorded"),
        )
        .when(
            ended & (F.col("protocol") != F.col("asked.protocol")),
            sentence(PROTOCOL_OTHERWISE, "transactional_id", "asked.protocol", "protocol"),
        )
        .when(~F.array_contains("timeouts", F.col("timeout_ms")), _of_id("timeout %s", timeouts, "timeout_ms"))
    )


LISTED_OTHERWISE = (
    "the coordinator describes %s with state and producer id '%s', and the lists of all brokers have '%s'"
)
RECORDED_OTHERWISE = (
    "the coordinator describes %s so that its last record must have '%s' (state, producer id, epoch, timeout, next "
    "producer id, start), and it has '%s'"
)
PROTOCOL_OTHERWISE = "the last transaction of %s was ended by protocol %s, and the coordinator's last record has %s"


def _of_id(what: str, right: Any, *told: str) -> Column:
    pattern = f"the coordinator describes %s with {what}, where it must be %s"
    return sentence(pattern, "transactional_id", *told, right)


def _named(rows: DataFrame) -> DataFrame:
    return findings(
        rows.where("wrong IS NOT NULL"),
        anomaly=F.lit("wrong-description"),
        detail="wrong",
        partition_id="partition_id",
        producer_id="pid",
        epoch="epoch",
    )


def _changed(one: ChangedOffer) -> Mapping[str, Any]:
    told = f"broker {one.broker} advertised {one.what} {one.before} before the run, and {one.after} after it"
    return {"anomaly": "wrong-description", "detail": told}


CHECK = Check(
    name="descriptions-are-true",
    statement="What brokers describe after settling is what they appended and answered, and advertised before.",
    anomalies=("wrong-description",),
    examine=examine,
    early=True,
)
