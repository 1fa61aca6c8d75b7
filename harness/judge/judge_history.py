"""The judgement of a history: prepare what checks share, run each check, then collect the findings of all."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from harness.evidence.history.anomalies import find_anomalies
from harness.evidence.history.judgement import SHOWN, CheckResult, HistoryFinding, Judgement
from harness.judge.all_checks import CHECKS
from harness.judge.check import Check, Examined
from harness.judge.finding_context import with_context
from harness.judge.judge_context import JudgeContext
from harness.judge.partitions import HistoryPartitions
from harness.spark.history.history_frames import History
from harness.spark.history.sizing import sized
from harness.spark.session.driver_rows import collect_rows
from harness.spark.session.parallel import in_parallel


def judge(history: History, *, shown: int = SHOWN, checks: Sequence[Check] = CHECKS) -> Judgement:
    """The judgement of a history.

    :param shown: Findings of one anomaly in one check that are kept in full; the rest are counted.
    """
    with sized(history) as partitioned:
        context = JudgeContext.of(partitioned)
        examined = _examined_by(checks, context)
        frames = [frame for _, of_check in examined for frame in of_check]
        rows = _first_findings(frames, context.partitions, shown) if frames else []
        findings = with_context(partitioned, [_finding(row) for row in rows])
    counted = {(row["check"], row["anomaly"]): row["counted"] for row in rows}
    by_check = [(row["check"], finding) for row, finding in zip(rows, findings, strict=True)]
    return Judgement(
        checks=tuple(
            replace(
                result,
                counts={anomaly: n for (name, anomaly), n in counted.items() if name == result.name},
                findings=tuple(finding for name, finding in by_check if name == result.name),
            )
            for result, _ in examined
        ),
        notes=history.notes,
    )


def _examined_by(checks: Sequence[Check], context: JudgeContext) -> list[tuple[CheckResult, Sequence[DataFrame]]]:
    """Of each check, in their order. Those that are to begin early run while transactions are counted."""
    in_turn = sorted(checks, key=lambda check: not check.early)
    calls: list[Callable[[], Any]] = [context.counted.get, *(partial(_examined, check, context) for check in in_turn)]
    _, *examined = in_parallel(calls)
    by_name = dict(zip((check.name for check in in_turn), examined, strict=True))
    return [by_name[check.name] for check in checks]


def _examined(check: Check, context: JudgeContext) -> tuple[CheckResult, Sequence[DataFrame]]:
    began = time.monotonic()
    examined = check.examine(context)
    frames = [frame.withColumn("check", F.lit(check.name)) for frame in examined.findings]
    return _result(check, examined, time.monotonic() - began), frames


def _result(check: Check, examined: Examined, seconds: float) -> CheckResult:
    return CheckResult(
        name=check.name,
        statement=check.statement,
        witnesses=examined.witnesses,
        undecided=examined.undecided,
        reason="" if examined.witnesses else examined.reason,
        required=examined.required,
        seconds=round(seconds, 3),
    )


def _first_findings(frames: Sequence[DataFrame], partitions: HistoryPartitions, shown: int) -> list[Mapping[str, Any]]:
    """The first findings of each anomaly of each check, with how many there are.

    Each frame is a query of its own: the plan of all of them together takes minutes to make, and more than the heap.
    """
    several: dict[tuple[str, str], list[dict[str, Any]]] = {}
    counts: dict[tuple[str, str], int] = {}
    for rows in in_parallel([partial(_first_of, frame, partitions, shown) for frame in frames]):
        for key, counted in {(row["check"], row["anomaly"]): row["counted"] for row in rows}.items():
            counts[key] = counts.get(key, 0) + counted
        for row in rows:
            several.setdefault((row["check"], row["anomaly"]), []).append(row)
    order = {name: nth for nth, name in enumerate(find_anomalies())}
    return [
        {**row, "counted": counts[key]}
        for key in sorted(several, key=lambda key: (order[key[1]], key[0]))
        for row in several[key][:shown]
    ]


def _first_of(frame: DataFrame, partitions: HistoryPartitions, shown: int) -> list[dict[str, Any]]:
    one = Window.partitionBy("check", "anomaly")
    ordered = one.orderBy("view", "partition_id", "offset", "txn", "producer_id", "epoch", "detail")
    rows = frame.select("*", F.count("*").over(one).alias("counted"), F.row_number().over(ordered).alias("nth"))
    names = F.broadcast(partitions.rows.select("partition_id", "topic", "partition"))
    first = rows.where(F.col("nth") <= shown).join(names, "partition_id", "left").orderBy("check", "anomaly", "nth")
    return [row.asDict() for row in collect_rows(first)]


def _finding(row: Mapping[str, Any]) -> HistoryFinding:
    where = f" ({row['topic']}-{row['partition']}" if row["topic"] is not None else ""
    where += f" at {row['offset']})" if where and row["offset"] is not None else ")" if where else ""
    return HistoryFinding(
        anomaly=row["anomaly"],
        detail=row["detail"] + where,
        view=row["view"] or "",
        txn=row["txn"],
        actor=row["actor"],
        topic=row["topic"],
        partition=row["partition"],
        offset=row["offset"],
        producer_id=row["producer_id"],
        epoch=row["epoch"],
        lasted_ms=row["lasted_ms"],
        operations=tuple(row["operations"] or ()),
    )
