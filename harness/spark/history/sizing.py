"""Spark's conf for the size of a history, and the session's own conf again afterwards.

A small history is one task a query: its tables are one partition each, and then no join, aggregate or window needs a
shuffle, which costs more than everything else there; the smallest are not even worth compiling plans for. A large one
is spread over tasks of bounded size.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlparse

from pyspark.sql import DataFrame, SparkSession

from harness.spark.history.history_frames import History
from harness.spark.session.conf_scope import COMPILED, ONE_TASK, conf_scope, one_partition_each

COMPILED_BYTES = 256 << 10
"""Bytes of Parquet from which compiling pays within a few rounds: some 5,000 operations with their readers."""
LARGE_BYTES = 6 << 20
"""Bytes of Parquet from which spreading pays: some 150,000 operations with their readers."""
TASK_BYTES = 16 << 20
"""Bytes of Parquet that one task sorts, some 300,000 rows of the log; and of a shuffle that one task reads."""
WINDOW_ROWS = 100_000
"""Rows of one producer on one partition up to which they are kept as they are while neighbours are looked at."""
LARGE_TABLES = ("operations", "log", "reads")


@contextmanager
def sized(history: History) -> Iterator[History]:
    """The history, partitioned for its size, with Spark's conf for it until the end of the block."""
    size = sum(_bytes(history.tables[name]) for name in LARGE_TABLES)
    if size >= LARGE_BYTES:
        with conf_scope(history.spark, _spread(history.spark, size)):
            yield history
    else:
        compiled = COMPILED if size >= COMPILED_BYTES else {}
        with conf_scope(history.spark, {**ONE_TASK, **compiled}):
            yield replace(history, tables=one_partition_each(history.tables))


def _bytes(table: DataFrame) -> int:
    """The size of the files that a table is read from; 0 for rows that come from no file."""
    files = (Path(unquote(urlparse(uri).path)) for uri in table.inputFiles())
    return sum(file.stat().st_size for file in files if file.is_file())


def _spread(spark: SparkSession, size: int) -> Mapping[str, str]:
    cores = spark.sparkContext.defaultParallelism
    tasks = max(cores, -(-size // TASK_BYTES))
    return {
        "spark.sql.shuffle.partitions": str(-(-tasks // cores) * cores),
        **COMPILED,
        # Spark puts small pieces together to 64 MB, which leaves three tasks for two cores.
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": str(TASK_BYTES),
        "spark.sql.windowExec.buffer.in.memory.threshold": str(WINDOW_ROWS),
        "spark.sql.requireAllClusterKeysForCoPartition": "false",  # rows of a transaction are shuffled once
    }
