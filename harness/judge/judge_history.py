"""The judgement of a history: survey the ground, make the scene, examine, then take all findings in one job."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from harness.evidence.anomalies import find_anomalies
from harness.evidence.judgement import SHOWN, CheckResult, HistoryFinding, Judgement
from harness.judge.all_checks import CHECKS
from harness.judge.check import Check, Examined
from harness.judge.finding_context import surrounded
from harness.judge.judge_context import JudgeContext, judge_context
from harness.judge.partitions import HistoryPartitions
from harness.judge.sizing import sized
from harness.spark.history.history_frames import History
from harness.spark.session.driver_rows import rows as taken
from harness.spark.session.parallel import in_parallel


def judge(history: History, *, shown: int = SHOWN, checks: Sequence[Check] = CHECKS) -> Judgement:
    """Everything that can be said of a history.

    :param shown: Findings of one anomaly in one check that are kept whole; the rest are counted.
    """
    with sized(history) as at_hand, judge_context(at_hand) as made:
        told = in_parallel([partial(_examined, check, made) for check in checks])
        results = [result for result, _ in told]
        frames = [frame for _, found in told for frame in found]
        found = _taken(frames, made.ground, shown) if frames else []
        counted = {(row["check"], row["anomaly"]): row["counted"] for row in found}
        whole = surrounded(at_hand, [_found(row) for row in found])
    by_check = [(row["check"], one) for row, one in zip(found, whole, strict=True)]
    return Judgement(
        checks=tuple(
            replace(
                result,
                counts={anomaly: n for (name, anomaly), n in counted.items() if name == result.name},
                findings=tuple(one for name, one in by_check if name == result.name),
            )
            for result in results
        ),
        notes=history.notes,
    )


def _examined(check: Check, made: JudgeContext) -> tuple[CheckResult, Sequence[DataFrame]]:
    began = time.monotonic()
    examined = check.examine(made)
    found = [frame.withColumn("check", F.lit(check.name)) for frame in examined.findings]
    return _result(check, examined, time.monotonic() - began), found


def _result(check: Check, examined: Examined, seconds: float) -> CheckResult:
    return CheckResult(
        name=check.name,
        statement=check.statement,
        witnesses=examined.witnesses,
        undecided=examined.undecided,
        reason="" if examined.witnesses else examined.reason,
        seconds=round(seconds, 3),
    )


def _taken(frames: Sequence[DataFrame], ground: HistoryPartitions, shown: int) -> list[Mapping[str, Any]]:
    """The first findings of each anomaly of each check, with how many there are.

    Each frame is a job of its own: the plan of all of them together takes minutes to make, and more than the heap.
    """
    several: dict[tuple[str, str], list[dict[str, Any]]] = {}
    counts: dict[tuple[str, str], int] = {}
    for rows in in_parallel([partial(_first_of, frame, ground, shown) for frame in frames]):
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


def _first_of(frame: DataFrame, ground: HistoryPartitions, shown: int) -> list[dict[str, Any]]:
    one = Window.partitionBy("check", "anomaly")
    ordered = one.orderBy("view", "place", "offset", "txn", "producer_id", "epoch", "detail")
    rows = frame.select("*", F.count("*").over(one).alias("counted"), F.row_number().over(ordered).alias("nth"))
    places = F.broadcast(ground.rows.select("place", "topic", "partition"))
    told = rows.where(F.col("nth") <= shown).join(places, "place", "left").orderBy("check", "anomaly", "nth")
    return [row.asDict() for row in taken(told)]


def _found(row: Mapping[str, Any]) -> HistoryFinding:
    at = f" ({row['topic']}-{row['partition']}" if row["topic"] is not None else ""
    at += f" at {row['offset']})" if at and row["offset"] is not None else ")" if at else ""
    return HistoryFinding(
        anomaly=row["anomaly"],
        detail=row["detail"] + at,
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
