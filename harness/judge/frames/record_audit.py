"""The suspected transactions record by record: each record of theirs in the committed log gets its anomaly, or none.

The conditions come in the order of the anomalies (:attr:`harness.evidence.anomaly.Anomaly.order`), since one cause has
one name.
"""

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from harness.evidence.history.anomalies import FENCING
from harness.judge.frames.fence_index import with_fence
from harness.judge.frames.segments import COMMITTED, OPEN, UNKNOWN, record_hash
from harness.judge.frames.transactions import NEVER
from harness.judge.partitions import HistoryPartitions
from harness.spark.session.local_checkpoint import checkpointed

NOWHERE = 2**62
"""Stands for the end of a segment that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordAudit:
    """What the suspects asked for, and what became of it.

    :param writes: A row a (txn, ordinal) that was to be written: its best outcome, number, writer,
        written_to, acked_offset …
    :param records: A row a record of the suspects in the committed log, with ``anomaly`` (null: as it should be).
    :param left: A row a (txn, ordinal) of the suspects in the log that is open, or whose segment's end is not known.
    :param fates: The suspects' rows of the transactions.
    """

    writes: DataFrame
    records: DataFrame
    left: DataFrame
    fates: DataFrame

    @classmethod
    def of(
        cls,
        operations: DataFrame,
        log: DataFrame,
        transactions: DataFrame,
        fences: DataFrame,
        partitions: HistoryPartitions,
    ) -> "RecordAudit":
        """Of the suspected ``transactions`` and those that share a committed segment with them."""
        suspects = transactions.where("suspect AND txn IS NOT NULL")
        shared = checkpointed(_shared(log, suspects))
        fates = checkpointed(transactions.join(_together(suspects, shared), "txn", "left_semi"))
        writes = checkpointed(_writes(operations, fates, fences, partitions))
        logged = checkpointed(log.join(fates.select("txn"), "txn", "left_semi"))
        owners = _owners(shared, transactions)
        return cls(
            writes=writes,
            records=checkpointed(_with_anomaly(logged, writes, fates, owners)),
            left=checkpointed(logged.where(F.col("status").isin(OPEN, UNKNOWN)).select("txn", "ordinal").distinct()),
            fates=fates,
        )

    @property
    def anomalies(self) -> DataFrame:
        """The records that have one."""
        return self.records.where("anomaly IS NOT NULL")

    def without_anomalies(self, records: DataFrame) -> DataFrame:
        """``records`` without those; by partition_id and offset."""
        return records.join(self.anomalies.select("partition_id", "offset"), ["partition_id", "offset"], "left_anti")


def _shared(log: DataFrame, suspects: DataFrame) -> DataFrame:
    """The records of all committed segments in which a suspect is together with another transaction."""
    key = ["partition_id", "pid", "segment"]
    committed = log.where(F.col("status") == COMMITTED)
    mixed = committed.where("mixed").join(suspects.select("txn"), "txn", "left_semi").select(*key).distinct()
    return committed.where("segment >= 0 AND txn IS NOT NULL").join(mixed, key, "left_semi").select(*key, "txn")


def _together(suspects: DataFrame, shared: DataFrame) -> DataFrame:
    return suspects.select("txn").union(shared.select("txn")).distinct()


def _owners(shared: DataFrame, transactions: DataFrame) -> DataFrame:
    """Which transaction a shared segment belongs to: of its transactions, the one that began last."""
    begun = shared.distinct().join(transactions.select("txn", "number"), "txn")
    return begun.groupBy("partition_id", "pid", "segment").agg(
        F.max_by("txn", F.struct("number", "txn")).alias("owner")
    )


def _writes(operations: DataFrame, fates: DataFrame, fences: DataFrame, partitions: HistoryPartitions) -> DataFrame:
    asked = operations.where("verb = 'produce' AND ordinal IS NOT NULL").join(fates.select("txn"), "txn", "left_semi")
    asked = with_fence(asked, fences, F.xxhash64("actor"))
    refused = F.col("outcome") == "refused"
    late = F.col("started") > F.col("fenced_at")
    rank = F.when(F.col("outcome") == "done", 0).when(refused, 2).otherwise(1)
    best = asked.select(
        "*",
        F.struct(
            rank.alias("rank"),
            "number",
            F.col("actor").alias("writer"),
            F.col("offset").alias("acked_offset"),
            record_hash().alias("asked"),
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
    known = partitions.rows.select("topic", "partition", F.col("partition_id").alias("written_to"), "low", "complete")
    return rows.join(F.broadcast(known), ["topic", "partition"], "left").drop("topic", "partition")


def _with_anomaly(logged: DataFrame, writes: DataFrame, fates: DataFrame, owners: DataFrame) -> DataFrame:
    segment = F.coalesce("segment", F.lit(NOWHERE))
    first = logged.groupBy("txn", "partition_id").agg(F.min(segment).alias("first_segment"))
    rows = (
        logged.where(F.col("status") == COMMITTED)
        .join(writes, ["txn", "ordinal"], "left")
        .join(fates.select("txn", "fate"), "txn")
        .join(first, ["txn", "partition_id"])
        .join(F.broadcast(owners), ["partition_id", "pid", "segment"], "left")
        .withColumn("anomaly", _anomaly())
    )
    same = Window.partitionBy("txn", "ordinal", F.col("anomaly").isNull()).orderBy("partition_id", "offset")
    again = F.col("anomaly").isNull() & (F.row_number().over(same) > 1)
    return rows.withColumn("anomaly", F.when(again, "duplicate").otherwise(F.col("anomaly")))


def _anomaly() -> Any:
    rank, refused = F.col("rank"), F.col("rank") == 2
    return (
        F.when(rank.isNull() | (F.col("written_to") != F.col("partition_id")), "unknown-record")
        .when(F.col("asked") != F.col("record_hash"), "altered-record")
        .when((refused & F.col("fenced")) | F.col("late"), "fenced-but-visible")
        .when(refused, "refused-but-visible")
        .when(F.coalesce(F.col("owner") != F.col("txn"), F.lit(False)), "leaked-into-next")
        .when(F.col("segment") > F.col("first_segment"), "leaked-into-next")
        .when(F.col("fate") == NEVER, "resurrected")
    )
