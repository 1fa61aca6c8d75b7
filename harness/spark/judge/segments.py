"""The raw log with each record's segment: who ends it, with which marker; made once, used by every check.

One window over (partition, producer id), newest record first, tells a record the marker that ends its segment and the
record that follows it. Columns:

place, pid, epoch, offset, txn, ordinal
    as the log has them; txn and ordinal null for a value that is none of ours
mark, print
    64-bit hashes of what an operation wrote (topic, partition, size, payload) and of what a reader must deliver
    (offset and value)
amount, input, input_offset
    of ``money:`` and ``relay:`` payloads, else null; ``input`` is the hash of ``topic-partition``
segment, status
    offset of the marker (null: none yet; -1: not transactional), and COMMITTED, ABORTED, OPEN or UNKNOWN
run_end, mixed, unsorted
    the record that follows it in the segment is of another transaction or none; is of another one; the record that
    follows it in any segment is of a lower (txn, ordinal)
"""

from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from harness.spark.judge.ground import Ground, name_of

COMMITTED, ABORTED, OPEN, UNKNOWN = 1, 2, 3, 4


def segmented(log: DataFrame, ground: Ground) -> DataFrame:
    """The records of ``log``, markers told off; see the module's docstring for the columns."""
    known = F.broadcast(ground.rows.select("topic", "partition", "place", "whole"))
    rows = log.join(known, ["topic", "partition"]).select(
        "place",
        "whole",
        F.col("producer_id").alias("pid"),
        "epoch",
        "offset",
        "txn",
        "ordinal",
        mark().alias("mark"),
        printed().alias("print"),
        *_payload(),
        F.col("transactional").alias("bound"),
        "control",
    )
    return _judged(_looking_ahead(rows))


def mark() -> Any:
    """Hash of where a record was written and what it says."""
    return F.xxhash64("topic", "partition", "size", "payload")


def printed() -> Any:
    """Hash of what a reader delivers."""
    return F.xxhash64("offset", "txn", "ordinal", "size", "payload")


def _payload() -> list[Any]:
    payload = F.col("payload")
    money, relay = payload.startswith("money:"), payload.startswith("relay:")
    source = F.expr("substring(payload, 7)")
    return [
        F.when(money, F.substring_index(payload, ":", -1).try_cast("long")).alias("amount"),
        F.when(relay, name_of(F.substring_index(source, "@", 1))).alias("input"),
        F.when(relay, F.substring_index(source, "@", -1).try_cast("long")).alias("input_offset"),
    ]


def _looking_ahead(rows: DataFrame) -> DataFrame:
    newest_first = Window.partitionBy("place", "pid").orderBy(F.col("offset").desc())
    until_here = newest_first.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    before = newest_first.rowsBetween(Window.unboundedPreceding, -1)
    marker = F.when(F.col("control").isNotNull(), F.col("offset") * 2 + (F.col("control") == "COMMIT").cast("long"))
    bound = F.col("control").isNull() & F.col("bound")
    return rows.select(
        "*",
        F.last(marker, ignorenulls=True).over(until_here).alias("ended"),
        F.lag(bound).over(newest_first).alias("goes_on"),
        F.last("txn", ignorenulls=True).over(before).alias("next_txn"),
        F.last("ordinal", ignorenulls=True).over(before).alias("next_ordinal"),
    ).where("control IS NULL")


def _judged(rows: DataFrame) -> DataFrame:
    ended, bound = F.col("ended"), F.col("bound")
    other = F.col("next_txn") != F.col("txn")
    goes_on = F.coalesce("goes_on", F.lit(False))
    status = (
        F.when(~bound | (ended % 2 == 1), COMMITTED)
        .when(ended.isNotNull(), ABORTED)
        .otherwise(F.when(F.col("whole"), OPEN).otherwise(UNKNOWN))
    )
    earlier = (F.col("next_txn") < F.col("txn")) | (~other & (F.col("next_ordinal") <= F.col("ordinal")))
    return rows.select(
        *("place", "pid", "epoch", "offset", "txn", "ordinal", "mark", "print", "amount", "input", "input_offset"),
        F.when(bound, F.shiftright(ended, 1)).otherwise(-1).alias("segment"),
        status.cast("byte").alias("status"),
        (bound & F.coalesce(~goes_on | other, F.lit(True))).alias("run_end"),
        (bound & goes_on & F.coalesce(other, F.lit(False))).alias("mixed"),
        F.coalesce(earlier, F.lit(False)).alias("unsorted"),
    )
