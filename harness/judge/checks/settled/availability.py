"""After heal the cluster serves again: probes bring a transaction to its end, and brokers tell what they keep.

A probe has served when one of its tries has. A request for what brokers keep (``UNANSWERED``) is sent again and again
after settling, when every broker is back: a coordinator or leader that refuses it all the time with an error that asks
to try again does not serve, though the same brokers write and read; nor does one that fails for a reason unknown to
itself (UNKNOWN_SERVER_ERROR, which is not to be tried again). That no answer comes at all proves nothing of a broker.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.base.kafka_error import KafkaError, error_name
from harness.evidence.history.anomalies import PROBE
from harness.evidence.history.unanswered_request import UNANSWERED, UnansweredRequest
from harness.judge.check import Check, Examined, finding_rows, findings, sentence
from harness.judge.judge_context import JudgeContext
from harness.judge.listed_fact import listed_fact
from harness.kafka.retriable import READ_AGAIN
from harness.spark.session.driver_rows import collect_rows

DESCRIBING = ("DescribeProducers", "DescribeTransactions", "ListTransactions", "OffsetFetch")
"""Requests for what brokers keep."""
REFUSED_MS = 5_000
"""For how long such a request must have been refused; less where others of its kind were in vain before."""


def examine(context: JudgeContext) -> Examined:
    """Witnesses: probes. The tries of a probe share its transactional id.

    Where no partition could be read after the run either, the target is gone, and the history cannot say why.
    """
    probes = _probes(context.few)
    ((sent, wanting),) = collect_rows(probes.agg(F.count("*"), F.count(F.when(~F.col("served"), 1))))
    gone = bool(wanting) and all(one.high_watermark is None for one in context.partitions.each)
    refused = _refused(context)
    found = [_named(probes.where("NOT served"))] if wanting and not gone else []
    return Examined(
        witnesses=sent,
        findings=[*found, *([finding_rows(context.history.spark, map(_finding, refused))] if refused else [])],
        undecided="no probe was served and no partition could be read: the target is gone" if gone else "",
        reason="no probe was sent after heal",
    )


def _refused(context: JudgeContext) -> Sequence[UnansweredRequest]:
    told = listed_fact(context.history.run, UNANSWERED, UnansweredRequest)
    return [each for each in told if each.api in DESCRIBING and _is_refused(each)]


def _is_refused(one: UnansweredRequest) -> bool:
    if one.error == KafkaError.UNKNOWN_SERVER_ERROR:
        return True
    return one.error in READ_AGAIN and one.waited_ms >= REFUSED_MS


def _finding(one: UnansweredRequest) -> Mapping[str, Any]:
    answer, seconds = error_name(one.error or 0), one.waited_ms / 1000
    return {
        "anomaly": "unavailable-after-heal",
        "detail": f"after settling {one.api} of {one.of} was answered with {answer}, at last after {seconds:.1f} s",
    }


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
    statement="After heal every probe can bring a transaction to its end, and brokers tell what they keep.",
    anomalies=("unavailable-after-heal",),
    examine=examine,
)
