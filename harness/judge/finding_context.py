"""The context of findings: the operations near them, the faults during them, the raw log around their offsets.

One query a table for all findings that are shown; these are some hundred rows, and are assigned to findings here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.base.json_value import Json
from harness.evidence.history.judgement import FindingContext, HistoryFinding
from harness.judge.partitions import inline
from harness.spark.history.history_frames import History
from harness.spark.session.driver_rows import collect_rows

OPERATIONS, OFFSETS, NEARBY, FAULTS = 30, 8, 6, 20
"""Operations shown; offsets before and after; numbers before and after of the same actor; faults shown."""


def with_context(history: History, found: Sequence[HistoryFinding]) -> list[HistoryFinding]:
    """The findings, each with its context."""
    if not found:
        return []
    operations = _operations(history.tables["operations"], found)
    log = _log(history, found)
    faults = [_plain(row) for row in collect_rows(history.tables["faults"].orderBy("started").limit(5_000))]
    return [replace(one, around=_context(one, operations, faults, log)) for one in found]


def _operations(table: DataFrame, found: Sequence[HistoryFinding]) -> list[dict[str, Json]]:
    txns = sorted({one.txn for one in found if one.txn is not None})
    named = sorted({number for one in found for number in one.operations})
    first = table.where(F.col("number").isin(named)).select("actor", F.col("number").alias("at")) if named else None
    wanted = table.where(F.col("txn").isin(txns) | F.col("number").isin(named))
    if first is not None:
        near = table.join(F.broadcast(first), "actor").where(F.abs(F.col("number") - F.col("at")) <= 4 * NEARBY)
        wanted = wanted.union(near.select(*table.columns))
    return [_plain(row) for row in collect_rows(wanted.distinct().orderBy("number").limit(20_000))]


def _log(history: History, found: Sequence[HistoryFinding]) -> Mapping[tuple[str, int], list[dict[str, Json]]]:
    offsets = {
        (one.topic, one.partition, one.offset + step)
        for one in found
        if one.topic is not None and one.partition is not None and one.offset is not None
        for step in range(-OFFSETS, OFFSETS + 1)
    }
    rows: dict[tuple[str, int], list[dict[str, Json]]] = {}
    if not offsets:
        return rows
    asked = [{"topic": topic, "partition": partition, "offset": offset} for topic, partition, offset in sorted(offsets)]
    wanted = inline(history.spark, asked, "topic: STRING, partition: LONG, offset: LONG")
    near = history.tables["log"].join(F.broadcast(wanted), ["topic", "partition", "offset"], "left_semi")
    plain = near.drop("txn", "ordinal", "size", "payload").orderBy("topic", "partition", "offset")
    for row in collect_rows(plain):
        rows.setdefault((row.topic, row.partition), []).append(_plain(row))
    return rows


def _context(
    one: HistoryFinding,
    operations: Iterable[Mapping[str, Any]],
    faults: Iterable[Mapping[str, Any]],
    log: Mapping[tuple[str, int], Sequence[Mapping[str, Any]]],
) -> FindingContext:
    own = [row for row in operations if _concerns(one, row)]
    centre = one.operations[0] if one.operations else own[len(own) // 2]["number"] if own else 0
    near = sorted(sorted(own, key=lambda row: _distance(one, row, centre))[:OPERATIONS], key=lambda row: row["number"])
    since = min((row["started"] for row in near), default=None)
    until = max((row["ended"] for row in near), default=None)
    during = [row for row in faults if since is not None and row["started"] <= until and row["ended"] >= since]
    rows: Sequence[Mapping[str, Any]] = ()
    if one.topic is not None and one.partition is not None and one.offset is not None:
        here = one.offset
        rows = [row for row in log.get((one.topic, one.partition), ()) if abs(row["offset"] - here) <= OFFSETS]
    return FindingContext(operations=tuple(near), faults=tuple(during[:FAULTS]), log=tuple(rows))


def _concerns(one: HistoryFinding, row: Mapping[str, Any]) -> bool:
    if row["number"] in one.operations or (one.txn is not None and row.get("txn") == one.txn):
        return True
    near = any(abs(row["number"] - number) <= 4 * NEARBY for number in one.operations)
    return near and one.actor is not None and row["actor"] == one.actor


def _distance(one: HistoryFinding, row: Mapping[str, Any], centre: int) -> tuple[bool, bool, int]:
    return row["number"] not in one.operations, row.get("txn") != one.txn, abs(row["number"] - centre)


def _plain(row: Any) -> dict[str, Json]:
    """A row without what it does not have."""
    return {name: value for name, value in row.asDict().items() if value is not None}
