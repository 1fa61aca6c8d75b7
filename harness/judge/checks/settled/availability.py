"""After heal the cluster serves again: every probe brings a transaction to its end, in one of its tries."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.evidence.history.anomalies import PROBE
from harness.judge.check import Check, Examined, findings, sentence
from harness.judge.judge_context import JudgeContext
from harness.spark.session.driver_rows import collect_rows


def examine(context: JudgeContext) -> Examined:
    """Witnesses: probes. The tries of a probe share its transactional id.

    Where no partition could be read after the run either, the target is gone, and the history cannot say why.
    """
    probes = _probes(context.few)
    ((sent, wanting),) = collect_rows(probes.agg(F.count("*"), F.count(F.when(~F.col("served"), 1))))
    gone = bool(wanting) and all(one.high_watermark is None for one in context.partitions.each)
    return Examined(
        witnesses=sent,
        findings=[_named(probes.where("NOT served"))] if wanting and not gone else [],
        undecided="no probe was served and no partition could be read: the target is gone" if gone else "",
        reason="no probe was sent after heal",
    )


def _probes(operations: DataFrame) -> DataFrame:
    name = F.regexp_replace("actor", r"\.\d+$", "")
    rows = operations.where(F.col("actor").startswith(PROBE))
    done = F.col("outcome") == "done"
    wanting = F.when(~done, F.struct("number", "verb", "reason", "error", "actor", "txn"))
    return rows.groupBy(F.coalesce("transactional_id", name).alias("probe")).agg(
        F.max((F.col("verb") == "commit") & done).alias("served"),
        F.countDistinct("actor").alias("tries"),
        F.max(F.struct("number", "actor", "txn")).alias("last"),
        F.max(wanting).alias("wanting"),
    )


def _named(rows: DataFrame) -> DataFrame:
    answer = sentence("%s answered %s %s", "wanting.verb", "wanting.error", "wanting.reason")
    last = F.when(F.col("wanting").isNull(), "it was not asked to").otherwise(answer)
    return findings(
        rows,
        anomaly=F.lit("unavailable-after-heal"),
        detail=sentence("probe %s did not commit in %s tries; last, %s", "probe", "tries", last),
        txn="last.txn",
        actor="last.actor",
        operations=F.array_compact(F.array("wanting.number", "last.number")),
    )


CHECK = Check(
    name="the-cluster-serves-after-heal",
    statement="After heal every probe can bring a transaction to its end.",
    anomalies=("unavailable-after-heal",),
    examine=examine,
)
