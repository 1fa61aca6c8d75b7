"""What Spark's readers delivered, as rows of the ``reads`` table.

A reader's Parquet sink keeps a log of its own of the files that each micro-batch committed (``_spark_metadata``), which
makes delivery exactly once; it is honoured here as any Spark application would, so that a file of a batch that was
killed counts for nothing and a batch that was counted twice would show.
"""

import json
import re
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from harness.base.user_error import ExitCode, UserError
from harness.spark.history.table_schema import schema
from harness.spark.readers.committed_stream import SCHEMA

READERS = "spark"
"""The folder of a round in which each reader has its own."""
DELIVERED = "delivered"
"""A reader's sink, in its folder."""
LOG = "_spark_metadata"
LISTED = re.compile(r"\d+(\.compact)?")


def deliveries(spark: SparkSession, folder: Path) -> DataFrame:
    """Every record that a reader of the round in ``folder`` delivered, with the columns of ``reads``; reader = folder.

    Spark delivers without order and without times, so ``position`` and ``at`` are null.
    """
    logs = (folder / READERS).glob(f"*/{DELIVERED}/{LOG}")
    sinks = sorted(log.parent for log in logs if committed_files(log.parent))
    # Not createDataFrame, which starts Python's own workers for its rows, none included.
    none = spark.range(0).select(*(F.lit(None).cast(field.dataType).alias(field.name) for field in schema("reads")))
    return reduce(DataFrame.unionByName, (_rows(spark, sink) for sink in sinks), none)


def _rows(spark: SparkSession, sink: Path) -> DataFrame:
    constant = {"reader": F.lit(sink.parent.name), "position": F.lit(None), "at": F.lit(None)}
    read = spark.read.schema(SCHEMA).parquet(*map(str, committed_files(sink)))
    columns = (constant.get(field.name, F.col(field.name)).cast(field.dataType) for field in schema("reads"))
    names = schema("reads").names
    return read.select(*(column.alias(name) for column, name in zip(columns, names, strict=True)))


def committed_files(sink: Path) -> Sequence[Path]:
    """The sink's files that count, by its log: the newest compacted list and what came after it.

    The log has the paths of the machine that wrote it; a folder may have been moved since, so their last part is taken.

    :raises UserError: EVIDENCE_UNREADABLE, when one of them is gone: a smaller sink would accuse the broker.
    """
    logs = {int(path.stem): path for path in sorted((sink / LOG).iterdir()) if LISTED.fullmatch(path.name)}
    newest = max((number for number, path in logs.items() if path.suffix), default=0)
    lines = (line for number in sorted(logs) if number >= newest for line in logs[number].read_text().splitlines()[1:])
    listed = {sink / unquote(Path(entry["path"]).name): entry["action"] for entry in map(json.loads, lines)}
    files = [path for path, action in listed.items() if action != "delete"]
    if lost := [path for path in files if not path.is_file()]:
        raise UserError(f"{lost[0]} is gone, and Spark's sink says that it counts", exit=ExitCode.EVIDENCE_UNREADABLE)
    return files
