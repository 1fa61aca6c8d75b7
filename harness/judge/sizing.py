"""One judge for all sizes: settings for the history at hand, and the session's own again afterwards.

A small history is one task a question: its tables are one partition each, and then no join, aggregate or window needs
a shuffle, which costs more than everything else there. A large one is spread over tasks of bounded size.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from pyspark.sql import DataFrame, SparkSession

from harness.spark.history.history_frames import History
from harness.spark.session.conf_scope import SMALL, conf_scope

LARGE = 6 << 20
"""Bytes of Parquet from which spreading and compiling pay: some 150,000 operations with their readers."""
UNKNOWN = 1 << 50
"""What Spark takes the size of rows for that come from no file."""
TASK = 16 << 20
"""Bytes of Parquet that one task sorts: some 300,000 rows of the log."""
WEIGHTY = ("operations", "log", "reads")


@contextmanager
def sized(history: History) -> Iterator[History]:
    """The history, laid out for its size, with the session's settings for it until the end of the block."""
    weight = sum(min(_weight(history.tables[name]), UNKNOWN) for name in WEIGHTY) % UNKNOWN
    if weight >= LARGE:
        with conf_scope(history.spark, _spread(history.spark, weight)):
            yield history
    else:
        with conf_scope(history.spark, SMALL):
            yield replace(history, tables={name: table.coalesce(1) for name, table in history.tables.items()})


def _weight(table: DataFrame) -> int:
    return int(table._jdf.queryExecution().analyzed().stats().sizeInBytes())


def _spread(spark: SparkSession, weight: int) -> Mapping[str, str]:
    cores = spark.sparkContext.defaultParallelism
    tasks = max(cores, -(-weight // TASK))
    return {
        "spark.sql.shuffle.partitions": str(-(-tasks // cores) * cores),
        "spark.sql.codegen.wholeStage": "true",
        "spark.sql.inMemoryColumnarStorage.compressed": "false",  # what is kept is hashes, and is asked soon
        "spark.sql.requireAllClusterKeysForCoPartition": "false",  # rows of a transaction are shuffled once
    }
