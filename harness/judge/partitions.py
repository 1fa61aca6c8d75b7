"""The partitions of a history, each with a small number, and whether its log is complete.

Topic names are replaced by the number (``partition_id``), so that no shuffle carries them. A partition's log is
*complete* when it reaches the high watermark that the broker gave; of one that is not, nothing is reported as missing.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from harness.spark.history.history_frames import History
from harness.spark.session.driver_rows import collect_rows
from harness.spark.session.local_checkpoint import checkpointed

SCHEMA = "partition_id: INT, topic: STRING, partition: LONG, low: LONG, high: LONG, stable: LONG, complete: BOOLEAN"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPartition:
    """A partition.

    :param rows: Rows of its raw log.
    :param last: The highest offset of its raw log, None when the history has none of it.
    :param written: Writes to it that were not refused.
    :param described: Producers that its leader tells of.
    :param open_at_leader: Those of them that it keeps an open transaction of.
    :param low: Its log start offset; this and the other ends as the broker gave them, None when it gave nothing.
    """

    topic: str
    partition: int
    rows: int
    last: int | None
    written: int
    described: int
    open_at_leader: int
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
        """Why its log is not complete, in words; empty when it is."""
        if self.high_watermark is None:
            return f"nothing tells how far {self.name} reaches" if self.rows or self.written else ""
        end = 0 if self.last is None else self.last + 1
        if end < self.high_watermark and self.high_watermark > (self.low or 0):
            return f"the log of {self.name} ends at {end}, below the high watermark {self.high_watermark}"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryPartitions:
    """All partitions.

    :param rows: A small table to be broadcast: partition_id, topic, partition, low, high (the high watermark), stable
        (the last stable offset), complete, and name, the 64-bit hash of ``topic-partition`` as :func:`partition_hash`
        makes it.
    :param producers: A row a producer id in a partition's log: topic, partition, producer_id, rows, and the offsets
        last, last_record and last_marker.
    """

    each: Sequence[JudgedPartition]
    rows: DataFrame
    producers: DataFrame

    @property
    def lacking(self) -> str:
        """What of the logs is not known, in one sentence; empty when everything is."""
        reasons = [one.lacking for one in self.each if one.lacking]
        more = f", and {len(reasons) - 3} more" if len(reasons) > 3 else ""
        return "; ".join(reasons[:3]) + more

    @property
    def open_at_leaders(self) -> int:
        """Open transactions that leaders keep."""
        return sum(one.open_at_leader for one in self.each)

    def numbered(self, rows: DataFrame, *more: str) -> DataFrame:
        """``rows`` with ``partition_id``, and ``more`` columns of :attr:`rows`, beside their topic and partition.

        They are joined by a hash of both: Spark looks a single number up in a fraction of the time of a text and a
        number.
        """
        known = self.rows.select(_hash_of_both().alias("both"), "partition_id", *more)
        return rows.join(F.broadcast(known), _hash_of_both() == F.col("both")).drop("both")


def _hash_of_both() -> Any:
    return F.xxhash64("topic", "partition")


def partition_hash(text: Any) -> Any:
    """The hash of a ``topic-partition`` column."""
    return F.xxhash64(text)


def load_partitions(history: History) -> HistoryPartitions:
    """The partitions of log, writes and ends; some rows a partition come to the driver."""
    producers = checkpointed(_producers(history.tables["log"]))
    told: dict[tuple[str, int], dict[str, Any]] = {}
    for row in collect_rows(_told(history.tables, producers)):
        values = {name: value for name, value in row.asDict(recursive=True).items() if value is not None}
        told.setdefault((row.topic, row.partition), {}).update(values)
    known = (_partition(told[key]) for key in sorted(told))
    # What a leader tells of producers cannot be compared where neither a log nor its ends are there.
    each = tuple(one for one in known if one.rows or one.written or one.at is not None or one.open_at_leader)
    return HistoryPartitions(each=each, rows=_rows(history, each), producers=producers)


def _told(tables: Mapping[str, DataFrame], producers: DataFrame) -> DataFrame:
    """What each table tells of a partition: a row a table and partition, null where it tells nothing."""
    log = producers.groupBy("topic", "partition").agg(F.sum("rows").alias("rows"), F.max("last").alias("last"))
    produces = tables["operations"].where("verb = 'produce' AND outcome <> 'refused'")
    written = produces.groupBy("topic", "partition").agg(F.count("*").alias("written"))
    newest = F.max(F.struct("at", "log_start_offset", "high_watermark", "last_stable_offset"))
    ends = tables["partitions"].groupBy("topic", "partition").agg(newest.alias("end"))
    open_ = F.when(F.col("transaction_start_offset") >= 0, 1)
    at_leader = (
        tables["producers"]
        .groupBy("topic", "partition")
        .agg(F.count("*").alias("described"), F.count(open_).alias("open_at_leader"))
    )
    return reduce(partial(DataFrame.unionByName, allowMissingColumns=True), (log, written, ends, at_leader))


def _producers(log: DataFrame) -> DataFrame:
    offset, record = F.col("offset"), F.col("control").isNull()
    return log.groupBy("topic", "partition", "producer_id").agg(
        F.count("*").alias("rows"),
        F.max(offset).alias("last"),
        F.max(F.when(record, offset)).alias("last_record"),
        F.max(F.when(~record, offset)).alias("last_marker"),
    )


def _partition(row: Mapping[str, Any]) -> JudgedPartition:
    end = row.get("end", {})
    return JudgedPartition(
        topic=row["topic"],
        partition=row["partition"],
        rows=row.get("rows", 0),
        last=row.get("last"),
        written=row.get("written", 0),
        described=row.get("described", 0),
        open_at_leader=row.get("open_at_leader", 0),
        at=end.get("at"),
        low=end.get("log_start_offset"),
        high_watermark=end.get("high_watermark"),
        last_stable_offset=end.get("last_stable_offset"),
    )


def _rows(history: History, each: Sequence[JudgedPartition]) -> DataFrame:
    rows = [
        {
            "partition_id": number,
            "topic": one.topic,
            "partition": one.partition,
            "low": one.low or 0,
            "high": one.high_watermark,
            "stable": one.last_stable_offset,
            "complete": not one.lacking,
        }
        for number, one in enumerate(each)
    ]
    named = inline(history.spark, rows, SCHEMA)
    return named.withColumn("name", partition_hash(F.concat_ws("-", "topic", "partition")))


def inline(spark: SparkSession, rows: Sequence[Mapping[str, Any]], schema: str) -> DataFrame:
    """A small table out of values at hand: as a literal in the plan, so that no Python has to run beside the JVM."""
    parsed = F.from_json(F.lit(json.dumps(rows)), f"ARRAY<STRUCT<{schema}>>")
    return spark.range(1, numPartitions=1).select(F.explode(parsed).alias("row")).select("row.*")
