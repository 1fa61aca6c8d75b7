"""The ground of a judgement: every partition of the history with a number of its own, and how far its log is known.

Partitions get small numbers here, so that nothing after carries topic names through a shuffle. A partition's log is
*whole* when it reaches the high watermark that the broker told; of one that is not, nothing is said to be missing.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from harness.spark.history.history_frames import History
from harness.spark.session.driver_rows import rows as taken

SCHEMA = "place: INT, topic: STRING, partition: LONG, low: LONG, stable: LONG, whole: BOOLEAN"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPartition:
    """A partition.

    :param rows: Rows of its raw log.
    :param last: The highest offset of its raw log, None when the history has none of it.
    :param written: Writes to it that were not refused.
    :param kept_open: Producers that its leader keeps an open transaction of.
    :param high_watermark: And the other ends: as the broker told them; None when it told nothing.
    """

    topic: str
    partition: int
    rows: int
    last: int | None
    written: int
    kept_open: int
    at: float | None
    low: int | None
    high_watermark: int | None
    last_stable_offset: int | None

    @property
    def name(self) -> str:
        """``topic-partition``."""
        return f"{self.topic}-{self.partition}"

    @property
    def lacking(self) -> str:
        """Why its log is not whole, in words; empty when it is."""
        if self.high_watermark is None:
            return f"nothing tells how far {self.name} reaches" if self.rows or self.written else ""
        end = 0 if self.last is None else self.last + 1
        if end < self.high_watermark and self.high_watermark > (self.low or 0):
            return f"the log of {self.name} ends at {end}, below the high watermark {self.high_watermark}"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPartitions:
    """All partitions.

    ``rows`` has them as a small table to be broadcast: place, topic, partition, low, stable (the last stable offset),
    whole, and name, the 64-bit hash of ``topic-partition`` as :func:`name_of` makes it.
    """

    places: Sequence[JudgedPartition]
    rows: DataFrame

    @property
    def lacking(self) -> str:
        """What of the logs is not known, in one sentence; empty when everything is."""
        reasons = [place.lacking for place in self.places if place.lacking]
        more = f", and {len(reasons) - 3} more" if len(reasons) > 3 else ""
        return "; ".join(reasons[:3]) + more

    @property
    def kept_open(self) -> int:
        """Open transactions that leaders keep."""
        return sum(place.kept_open for place in self.places)

    def numbered(self, rows: DataFrame, kind: str = "inner") -> DataFrame:
        """``rows`` with ``place`` beside their topic and partition."""
        return rows.join(F.broadcast(self.rows.select("topic", "partition", "place")), ["topic", "partition"], kind)


def name_of(text: Any) -> Any:
    """The hash of a ``topic-partition`` column."""
    return F.xxhash64(text)


def load_partitions(history: History) -> HistoryPartitions:
    """Look over log, writes and ends; one row a partition is brought here."""
    tables = history.tables
    log = tables["log"].groupBy("topic", "partition").agg(F.count("*").alias("rows"), F.max("offset").alias("last"))
    produces = tables["operations"].where("verb = 'produce' AND outcome <> 'refused'")
    written = produces.groupBy("topic", "partition").agg(F.count("*").alias("written"))
    told = F.struct("at", "log_start_offset", "high_watermark", "last_stable_offset")
    ends = tables["partitions"].groupBy("topic", "partition").agg(F.max(told).alias("told"))
    open_ = tables["producers"].where("transaction_start_offset >= 0")
    kept = open_.groupBy("topic", "partition").agg(F.count("*").alias("kept_open"))
    key = ["topic", "partition"]
    both = log.join(written, key, "full").join(ends, key, "full").join(kept, key, "full")
    places = tuple(_place(row.asDict(recursive=True)) for row in taken(both.orderBy(*key)))
    return HistoryPartitions(places=places, rows=_rows(history, places))


def _place(row: Mapping[str, Any]) -> JudgedPartition:
    told = row["told"] or {}
    return JudgedPartition(
        topic=row["topic"],
        partition=row["partition"],
        rows=row["rows"] or 0,
        last=row["last"],
        written=row["written"] or 0,
        kept_open=row["kept_open"] or 0,
        at=told.get("at"),
        low=told.get("log_start_offset"),
        high_watermark=told.get("high_watermark"),
        last_stable_offset=told.get("last_stable_offset"),
    )


def _rows(history: History, places: Sequence[JudgedPartition]) -> DataFrame:
    columns = ("place", "topic", "partition", "low", "stable", "whole")
    rows = [
        dict(zip(columns, (n, p.topic, p.partition, p.low or 0, p.last_stable_offset, not p.lacking), strict=True))
        for n, p in enumerate(places)
    ]
    named = inline(history.spark, rows, SCHEMA)
    return named.withColumn("name", name_of(F.concat_ws("-", "topic", "partition")))


def inline(spark: SparkSession, rows: Sequence[Mapping[str, Any]], schema: str) -> DataFrame:
    """A small table out of values at hand: as a literal in the plan, so that no Python has to run beside the JVM."""
    parsed = F.from_json(F.lit(json.dumps(rows)), f"ARRAY<STRUCT<{schema}>>")
    return spark.range(1, numPartitions=1).select(F.explode(parsed).alias("row")).select("row.*")
