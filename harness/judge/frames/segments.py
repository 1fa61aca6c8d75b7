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


def segmented(log: DataFrame, partitions: HistoryPartitions) -> DataFrame:
    """The records of ``log``, without the markers; see the module's docstring for the columns.

    A log that lost its beginning may begin within a batch, of which a broker still sends all (KIP-107): what is below
    its first offset is no part of it, and no reader is shown it.
    """
    known = F.broadcast(partitions.rows.select("topic", "partition", "partition_id", "low", "complete"))
    rows = log.join(known, ["topic", "partition"]).where("offset >= low")
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
        "control",
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
    newest_first = Window.partitionBy("partition_id", "pid").orderBy(F.col("offset").desc())
    until_here = newest_first.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    before_here = newest_first.rowsBetween(Window.unboundedPreceding, -1)
    record = F.col("control").isNull()
    marker = F.when(~record, F.col("offset") * 2 + (F.col("control") == "COMMIT").cast("long"))
    in_transaction = record & F.col("transactional")
    seen = rows.select(
        "*",
        F.last(marker, ignorenulls=True).over(until_here).alias("ended"),
        F.last(F.when(record, F.struct("txn", "ordinal")), ignorenulls=True).over(before_here).alias("next"),
        F.lead(in_transaction, 1, False).over(newest_first).alias("began"),
        F.lag(in_transaction, 1, False).over(newest_first).alias("goes_on"),
    )
    return seen.where(record).drop("control")


def _with_status(rows: DataFrame) -> DataFrame:
    ended, transactional, goes_on = F.col("ended"), F.col("transactional"), F.col("goes_on")
    other = F.col("next.txn") != F.col("txn")
    status = (
        F.when(~transactional | (ended % 2 == 1), COMMITTED)
        .when(ended.isNotNull(), ABORTED)
        .otherwise(F.when(F.col("complete"), OPEN).otherwise(UNKNOWN))
    )
    earlier = (F.col("next.txn") < F.col("txn")) | (~other & (F.col("next.ordinal") <= F.col("ordinal")))
    return rows.select(
        *("partition_id", "pid", "epoch", "offset", "txn", "ordinal", "record_hash", "amount", "input", "input_offset"),
        F.when(transactional, F.shiftright(ended, 1)).otherwise(-1).alias("segment"),
        status.cast("byte").alias("status"),
        (~F.col("began")).alias("starts"),
        (transactional & (~goes_on | F.coalesce(other, F.lit(True)))).alias("run_end"),
        (transactional & goes_on & F.coalesce(other, F.lit(True))).alias("mixed"),
        F.coalesce(earlier, F.col("next").isNotNull()).alias("unsorted"),
    )
