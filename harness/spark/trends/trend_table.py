"""The table of rounds as Parquet, by release, scenario and day, and the aggregation that the page shows.

A column that is added keeps older folders readable: the table is made anew from the round folders each time.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from harness.base.user_error import ExitCode, UserError
from harness.spark.session.driver_rows import collect_rows
from harness.spark.session.spark_master import first_line

PARTITIONED_BY = ("release", "scenario", "day")
_SPREAD = "count: BIGINT, p50: DOUBLE, p95: DOUBLE, p99: DOUBLE, most: DOUBLE"
COLUMNS: Mapping[str, str] = {
    "release": "STRING",
    "scenario": "STRING",
    "day": "STRING",
    "session": "STRING",
    "round": "STRING",
    "folder": "STRING",
    "target": "STRING",
    "backend": "STRING",
    "seed": "BIGINT",
    "started": "STRING",
    "conclusion": "STRING",
    "anomalies": "MAP<STRING, BIGINT>",
    "seconds": "DOUBLE",
    "played_seconds": "DOUBLE",
    "operations": "BIGINT",
    "committed": "BIGINT",
    "faults": "BIGINT",
    "struck": "BIGINT",
    "settled_ms": "DOUBLE",
    "recovered_ms": "DOUBLE",
    "unavailable_ms": "DOUBLE",
    "lag": "BIGINT",
    "interruptions": f"ARRAY<STRUCT<fault: STRING, client: STRING, faults: BIGINT, unavailable: STRUCT<{_SPREAD}>, "
    f"recovered: STRUCT<{_SPREAD}>, not_again: BIGINT>>",
    "lags": f"ARRAY<STRUCT<phase: STRING, lag: STRUCT<{_SPREAD}>>>",
    "latencies": "ARRAY<STRUCT<verb: STRING, phase: STRING, count: BIGINT, p50: DOUBLE, p95: DOUBLE, p99: DOUBLE, "
    "longest: DOUBLE>>",
}
"""The columns with Spark's types; ``reports/README.md`` says what they are."""
SCHEMA = ", ".join(f"`{name}` {kind}" for name, kind in COLUMNS.items())


def write_table(spark: SparkSession, lines: Path, place: Path) -> DataFrame:
    """Write the rounds, a JSON object a line, to ``place``, in the place of what was there, and read them back.

    :raises UserError: When they cannot be written there.
    """
    table = spark.read.schema(SCHEMA).option("mode", "FAILFAST").json(str(lines))
    try:
        table.repartition(*PARTITIONED_BY).write.mode("overwrite").partitionBy(*PARTITIONED_BY).parquet(str(place))
    except (PySparkException, Py4JJavaError) as error:
        sentence = f"the table cannot be written to {place}: {first_line(error)}"
        raise UserError(sentence, exit=ExitCode.USAGE) from error
    return spark.read.schema(SCHEMA).parquet(str(place))


def come_to(table: DataFrame) -> Sequence[Mapping[str, Any]]:
    """What the rounds of each release and scenario come to, a row each."""
    red = F.col("conclusion") == "VIOLATED"
    middle = {name: F.percentile_approx(name, 0.5) for name in ("settled_ms", "recovered_ms", "unavailable_ms")}
    rows = table.groupBy("release", "scenario").agg(
        F.count("*").alias("rounds"),
        F.count(F.when(red, 1)).alias("red"),
        F.count(F.when(~red & ~F.col("conclusion").isin("HOLDS", "OUT_OF_REACH"), 1)).alias("unshown"),
        F.sum("committed").alias("committed"),
        (F.sum("committed") / F.sum("played_seconds")).alias("committed_a_second"),
        *(one.alias(name) for name, one in middle.items()),
        *(F.max(name).alias(f"{name}_most") for name in middle),
        F.max("lag").alias("lag"),
        F.array_sort(F.array_distinct(F.flatten(F.collect_list(F.map_keys("anomalies"))))).alias("anomalies"),
        F.countDistinct("day").alias("days"),
    )
    return [row.asDict() for row in collect_rows(rows)]
