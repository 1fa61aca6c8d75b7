"""The close look at suspected transactions: each of their records in the committed log gets its anomaly, or none.

The order of :data:`harness.evidence.anomalies.ANOMALIES` is the order of the questions here: one cause, one name.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from harness.evidence.anomalies import FENCING
from harness.judge.frames.segments import COMMITTED, OPEN, UNKNOWN, mark
from harness.judge.frames.transactions import NEVER
from harness.judge.partitions import HistoryPartitions

NOWHERE = 2**62
"""Stands for the end of a segment that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordAudit:
    """What the suspects asked for, and what became of it.

    :param writes: A row a (txn, ordinal) that was to be written: best outcome, number, actor, place, offset …
    :param records: A row a record of the suspects in the committed log, with ``anomaly`` (null: as it should be).
    :param left: A row a (txn, ordinal) of the suspects in the log that is open, or of which nobody knows.
    :param fates: The suspects' rows of the transactions.
    """

    writes: DataFrame
    records: DataFrame
    left: DataFrame
    fates: DataFrame

    @classmethod
    def at(
        cls,
        operations: DataFrame,
        log: DataFrame,
        transactions: DataFrame,
        suspects: DataFrame,
        fences: DataFrame,
        ground: HistoryPartitions,
        keep: Callable[[DataFrame], DataFrame],
    ) -> "RecordAudit":
        """Look closely at ``suspects`` and at those that share a committed segment with them."""
        shared = keep(_shared(log, suspects))
        fates = keep(transactions.join(_together(suspects, shared), "txn", "left_semi"))
        writes = keep(_writes(operations, fates, fences, ground))
        mine = keep(log.join(fates.select("txn"), "txn", "left_semi"))
        owners = _owners(shared, transactions)
        return cls(
            writes=writes,
            records=keep(_judged(mine, writes, fates, owners)),
            left=keep(mine.where(F.col("status").isin(OPEN, UNKNOWN)).select("txn", "ordinal").distinct()),
            fates=fates,
        )

    @property
    def anomalies(self) -> DataFrame:
        """The records that have one."""
        return self.records.where("anomaly IS NOT NULL")

    def without_anomalies(self, records: DataFrame) -> DataFrame:
        """``records`` without those; by place and offset."""
        return records.join(self.anomalies.select("place", "offset"), ["place", "offset"], "left_anti")


def _shared(log: DataFrame, suspects: DataFrame) -> DataFrame:
    """The records of all committed segments in which a suspect is together with another transaction."""
    key = ["place", "pid", "segment"]
    committed = log.where(F.col("status") == COMMITTED)
    mixed = committed.where("mixed").join(suspects.select("txn"), "txn", "left_semi").select(*key).distinct()
    return committed.where("segment >= 0 AND txn IS NOT NULL").join(mixed, key, "left_semi").select(*key, "txn")


def _together(suspects: DataFrame, shared: DataFrame) -> DataFrame:
    return suspects.select("txn").union(shared.select("txn")).distinct()


def _owners(shared: DataFrame, transactions: DataFrame) -> DataFrame:
    """To whom a shared segment belongs: of its transactions, the one that began last."""
    begun = shared.distinct().join(transactions.select("txn", "number"), "txn")
    return begun.groupBy("place", "pid", "segment").agg(F.max_by("txn", F.struct("number", "txn")).alias("owner"))


def _writes(operations: DataFrame, fates: DataFrame, fences: DataFrame, ground: HistoryPartitions) -> DataFrame:
    asked = operations.where("verb = 'produce' AND ordinal IS NOT NULL").join(fates.select("txn"), "txn", "left_semi")
    who = F.xxhash64("actor") == F.col("who")
    early = F.broadcast(fences.select(F.col("actor").alias("who"), "first", "last", "fenced_at", "fence"))
    asked = asked.join(early, who & F.col("number").between(F.col("first"), F.col("last")), "left")
    refused = F.col("outcome") == "refused"
    late = F.col("started") > F.col("fenced_at")
    rank = F.when(F.col("outcome") == "done", 0).when(refused, 2).otherwise(1)
    best = asked.select(
        "*",
        F.struct(
            rank.alias("rank"),
            "number",
            F.col("actor").alias("who_wrote"),
            F.col("offset").alias("told"),
            mark().alias("asked"),
            "topic",
            "partition",
            "started",
            "ended",
            "error",
            F.coalesce(refused & F.col("error").isin(*map(int, FENCING)), F.lit(False)).alias("fenced"),
            F.coalesce(late, F.lit(False)).alias("late"),
            F.when(late, F.col("fence")).alias("fenced_by"),
        ).alias("write"),
    )
    rows = best.groupBy("txn", "ordinal").agg(F.min("write").alias("write")).select("txn", "ordinal", "write.*")
    known = ground.rows.select("topic", "partition", F.col("place").alias("to"), "low", "whole")
    return rows.join(F.broadcast(known), ["topic", "partition"], "left").drop("topic", "partition")


def _judged(mine: DataFrame, writes: DataFrame, fates: DataFrame, owners: DataFrame) -> DataFrame:
    segment = F.coalesce("segment", F.lit(NOWHERE))
    first = mine.groupBy("txn", "place").agg(F.min(segment).alias("first_segment"))
    rows = (
        mine.where(F.col("status") == COMMITTED)
        .join(writes, ["txn", "ordinal"], "left")
        .join(fates.select("txn", "fate"), "txn")
        .join(first, ["txn", "place"])
        .join(F.broadcast(owners), ["place", "pid", "segment"], "left")
        .withColumn("anomaly", _anomaly())
    )
    same = Window.partitionBy("txn", "ordinal", F.col("anomaly").isNull()).orderBy("place", "offset")
    again = F.col("anomaly").isNull() & (F.row_number().over(same) > 1)
    return rows.withColumn("anomaly", F.when(again, "duplicate").otherwise(F.col("anomaly")))


def _anomaly() -> Any:
    rank, refused = F.col("rank"), F.col("rank") == 2
    return (
        F.when(rank.isNull() | (F.col("to") != F.col("place")), "unknown-record")
        .when(F.col("asked") != F.col("mark"), "altered-record")
        .when((refused & F.col("fenced")) | F.col("late"), "fenced-but-visible")
        .when(refused, "refused-but-visible")
        .when(F.coalesce(F.col("owner") != F.col("txn"), F.lit(False)), "leaked-into-next")
        .when(F.col("segment") > F.col("first_segment"), "leaked-into-next")
        .when(F.col("fate") == NEVER, "resurrected")
    )
