"""The raw log with each record's segment: which marker ends it, and how.

One window over (partition, producer id), newest first, gives a record the marker that ends its segment, the record
that follows it, and whether the rows around it are of its segment: with a marker between them they are not. Columns:

partition_id, pid, epoch, offset, txn, ordinal
    as the log has them; txn and ordinal null for a value that is none of ours
record_hash
    64-bit hash of what an operation wrote: topic, partition, size, payload
amount, input, input_offset
    of ``money:`` and ``relay:`` payloads, else null; ``input`` is the hash of ``topic-partition``
segment, status
    offset of the marker (null: none yet; -1: not transactional), and COMMITTED, ABORTED, OPEN or UNKNOWN
starts
    it is the first record of its segment
run_end, mixed, unsorted
    the record that follows it in the segment is of another transaction or none; is of another one; the record that
    follows it in any segment is of a lower (txn, ordinal); a value that is none of ours counts as both
"""

from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from harness.judge.partitions import HistoryPartitions, partition_hash

COMMITTED, ABORTED, OPEN, UNKNOWN = 1, 2, 3, 4
NONE_OF_OURS = -1
"""Stands for the transaction of a value that is none of ours."""


def segmented(log: DataFrame, partitions: HistoryPartitions) -> DataFrame:
    """The records of ``log``, without the markers; see the module's docstring for the columns.

    A log that lost its beginning may begin within a batch, of which a broker still sends all (KIP-107): what is below
    its first offset is no part of it, and no reader is shown it.
    """
    rows = partitions.numbered(log, "low", "complete").where("offset >= low")
    rows = rows.select(
        "partition_id",
        "complete",
        F.col("producer_id").alias("pid"),
        "epoch",
        "offset",
        "txn",
        "ordinal",
        record_hash().alias("record_hash"),
        *_payload(),
        "transactional",
        (F.col("control") == "COMMIT").alias("commits"),
    )
    return _with_status(_with_neighbours(rows))


def record_hash() -> Any:
    """Hash of a record's topic, partition, size and payload."""
    return F.xxhash64("topic", "partition", "size", "payload")


def read_hash(record: Any = "record_hash") -> Any:
    """Hash of what a reader delivers: the offset and the value."""
    return F.xxhash64("offset", "txn", "ordinal", record)


def _payload() -> list[Any]:
    payload = F.col("payload")
    money, relay = payload.startswith("money:"), payload.startswith("relay:")
    source = F.expr("substring(payload, 7)")
    return [
        F.when(money, F.substring_index(payload, ":", -1).try_cast("long")).alias("amount"),
        F.when(relay, partition_hash(F.substring_index(source, "@", 1))).alias("input"),
        F.when(relay, F.substring_index(source, "@", -1).try_cast("long")).alias("input_offset"),
    ]


def _with_neighbours(rows: DataFrame) -> DataFrame:
    # Spark compares the first column of an order without reading the rows: so it is one that tells most of them apart.
    # Beside the producer id it stands for the partition exactly, however large the id.
    key = (F.shiftleft("pid", 20) + F.col("partition_id")).alias("key")
    newest_first = Window.partitionBy("key", "pid").orderBy(F.col("offset").desc())
    before_here = newest_first.rowsBetween(Window.unboundedPreceding, -1)
    record = F.col("commits").isNull()
    marker = F.col("offset") * 2 + F.col("commits").cast("long")
    in_transaction = record & F.col("transactional")
    last = {
        "ended": marker,
        "next_txn": F.when(record, F.coalesce("txn", F.lit(NONE_OF_OURS))),
        "next_ordinal": F.when(record, F.coalesce("ordinal", F.lit(NONE_OF_OURS))),
    }
    # What a producer wrote to several partitions stays in one task, so that its transactions are counted there whole.
    # It is a hint because small histories are one task anyway, and take no hints.
    together = rows.hint("repartition", F.col("pid")).select("*", key)
    seen = together.select(
        "*",
        *(F.last(column, ignorenulls=True).over(before_here).alias(name) for name, column in last.items()),
        F.lead(in_transaction, 1, False).over(newest_first).alias("began"),
        F.lag(in_transaction, 1, False).over(newest_first).alias("goes_on"),
    )
    return seen.where(record)


def _with_status(rows: DataFrame) -> DataFrame:
    ended, transactional, goes_on = F.col("ended"), F.col("transactional"), F.col("goes_on")
    next_txn, next_ordinal = F.col("next_txn"), F.col("next_ordinal")
    other = F.when(next_txn != NONE_OF_OURS, next_txn) != F.col("txn")
    status = (
        F.when(~transactional | (ended % 2 == 1), COMMITTED)
        .when(ended.isNotNull(), ABORTED)
        .otherwise(F.when(F.col("complete"), OPEN).otherwise(UNKNOWN))
    )
    earlier = (next_txn < F.col("txn")) | (~other & (next_ordinal <= F.col("ordinal")))
    return rows.select(
        *("partition_id", "pid", "epoch", "offset", "txn", "ordinal", "record_hash", "amount", "input", "input_offset"),
        F.when(transactional, F.shiftright(ended, 1)).otherwise(-1).alias("segment"),
        status.cast("byte").alias("status"),
        (~F.col("began")).alias("starts"),
        (transactional & (~goes_on | F.coalesce(other, F.lit(True)))).alias("run_end"),
        (transactional & goes_on & F.coalesce(other, F.lit(True))).alias("mixed"),
        F.coalesce(earlier, next_txn.isNotNull()).alias("unsorted"),
    )
