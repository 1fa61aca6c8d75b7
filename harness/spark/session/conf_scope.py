"""Conf of a Spark session for the length of a block, and as it was after it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

FIXED_PLANS: Mapping[str, str] = {"spark.sql.adaptive.enabled": "false"}
"""For many small queries: a plan that changes as it runs takes longer to make than the query to run."""
ONE_TASK: Mapping[str, str] = {
    **FIXED_PLANS,
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.optimizer.disableHints": "true",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",  # compiling an expression takes longer than a few rows do
    # What an operator does in a task is an object, not a closure: Spark reads a closure's bytecode and serializes it
    # each time that a plan is made (``ClosureCleaner``), a seventh of the JVM's CPU for a small judgement.
    "spark.sql.execution.usePartitionEvaluator": "true",
}
"""For tables of one partition each (:func:`one_partition_each`): no shuffles, and nothing is compiled."""
COMPILED: Mapping[str, str] = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}
"""Plans become Java; a session that meets the same ones again keeps their classes."""


@contextmanager
def conf_scope(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
    """Set what is ``wanted``; put back what was there."""
    before = {name: spark.conf.get(name, None) for name in wanted}
    try:
        for name, value in wanted.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in before.items():
            spark.conf.unset(name) if value is None else spark.conf.set(name, value)


def one_partition_each(tables: Mapping[str, DataFrame]) -> Mapping[str, DataFrame]:
    """Small tables as :data:`ONE_TASK` needs them."""
    return {name: table.coalesce(1) for name, table in tables.items()}
