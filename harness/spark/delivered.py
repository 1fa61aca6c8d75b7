"""What Spark's readers delivered, as rows of the ``reads`` table.

A reader's Parquet sink keeps a log of its own of the files that each micro-batch committed (``_spark_metadata``), which
makes delivery exactly once; it is honoured here as any Spark application would, so that a file of a batch that was
killed counts for nothing and a batch that was counted twice would show.
"""

from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from harness.spark.reader import SCHEMA
from harness.spark.tables import schema

READERS = "spark"
"""The folder of a round in which each reader has its own."""
DELIVERED = "delivered"
"""A reader's sink, in its folder."""


def deliveries(spark: SparkSession, folder: Path) -> DataFrame:
    """Every record that a reader of the round in ``folder`` delivered, with the columns of ``reads``; reader = folder.

    Spark delivers without order and does not say when, so ``position`` and ``at`` are null.
    """
    sinks = sorted(log.parent for log in (folder / READERS).glob(f"*/{DELIVERED}/_spark_metadata"))
    # Not createDataFrame, which starts Python's own workers for its rows, none included.
    none = spark.range(0).select(*(F.lit(None).cast(field.dataType).alias(field.name) for field in schema("reads")))
    return reduce(DataFrame.unionByName, (_rows(spark, sink) for sink in sinks), none)


def _rows(spark: SparkSession, sink: Path) -> DataFrame:
    told = {"reader": F.lit(sink.parent.name), "position": F.lit(None), "at": F.lit(None)}
    read = spark.read.schema(SCHEMA).parquet(str(sink))
    columns = (told.get(field.name, F.col(field.name)).cast(field.dataType) for field in schema("reads"))
    names = schema("reads").names
    return read.select(*(column.alias(name) for column, name in zip(columns, names, strict=True)))
