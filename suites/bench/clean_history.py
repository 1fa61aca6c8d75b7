"""A sound history of any length, made by Spark straight into Parquet: what the judge is timed on.

64 actors commit nine transactions of ten and abort the tenth; each writes one record to each of three partitions, in
which two transactions are always open at a time; two readers read everything. Five operations a transaction.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from harness.evidence.history.history_journal import CHAOS_FORMAT, TABLES
from harness.evidence.history.seal_manifest import SealManifest
from harness.spark.history.seal import complete
from harness.spark.history.table_schema import table_fields

OPERATIONS_A_TXN = 5
RECORDS_A_TXN = 3
ACTORS = 64
GROUPS = 4
"""Groups of three partitions each; a transaction writes to those of one group."""


def make_history(spark: SparkSession, folder: Path, txns: int) -> Path:
    """A sealed run folder with ``txns`` transactions; a multiple of eight, so that every pair is complete."""
    history = folder / "history"
    history.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"kind": "chaos", "format": CHAOS_FORMAT}))
    tables = {**dict.fromkeys(TABLES), **_tables(spark, txns)}
    for table, rows in tables.items():
        whole = complete(table, _filled(spark.range(0) if rows is None else rows, table))
        whole.write.parquet(str(history / f"{table}.parquet"))
    SealManifest.of(history, tuple(tables), ()).write(history)
    return folder


def _tables(spark: SparkSession, txns: int) -> Mapping[str, DataFrame]:
    started = spark.range(txns).selectExpr(
        "id",
        f"id % {ACTORS} AS a",
        f"id div {ACTORS} AS epoch",
        f"id % {GROUPS} AS g",
        f"id div {GROUPS} AS m",
        "id % 10 = 9 AS aborted",
    )
    records = started.withColumn("k", F.explode(F.sequence(F.lit(0), F.lit(RECORDS_A_TXN - 1)))).selectExpr(
        "*",
        f"g * {RECORDS_A_TXN} + k AS partition",
        "(m div 2) * 4 + m % 2 AS offset",
        f"concat(id, '/', k, '/{RECORDS_A_TXN}/money:', a, ':', CASE k WHEN 0 THEN '-2' ELSE '+1' END) AS value",
    )
    reads = _reads(records.where("NOT aborted"), "wire").unionAll(_reads(records.where("NOT aborted"), "spark"))
    ends = spark.range(GROUPS * RECORDS_A_TXN).selectExpr("'accounts' AS topic", "id AS partition")
    return {
        "operations": _operations(spark, started),
        "log": _log(records),
        "reads": reads,
        "readers": _readers(ends, txns),
        "partitions": ends.selectExpr(
            "*",
            "1e9 AS at",
            "0L AS log_start_offset",
            f"{_end(txns)}L AS high_watermark",
            f"{_end(txns)}L AS last_stable_offset",
            "1 AS leader",
        ),
    }


def _end(txns: int) -> int:
    """Two rows of the log a transaction and partition."""
    return 2 * txns // GROUPS


def _operations(spark: SparkSession, started: DataFrame) -> DataFrame:
    inits = spark.range(ACTORS).selectExpr(
        "id + 1 AS number",
        "id AS a",
        "'init' AS verb",
        "id * 1.0D AS started",
        "id * 1.0D + 0.5D AS ended",
        "0L AS epoch",
    )
    rows = started.withColumn("j", F.explode(F.sequence(F.lit(0), F.lit(OPERATIONS_A_TXN - 1)))).selectExpr(
        f"{ACTORS} + id * {OPERATIONS_A_TXN} + j + 1 AS number",
        "*",
        "j BETWEEN 1 AND 3 AS writes",
        "CASE WHEN j = 0 THEN 'begin' WHEN j < 4 THEN 'produce' WHEN aborted THEN 'abort' ELSE 'commit' END AS verb",
    )
    rows = rows.selectExpr(
        "number",
        "a",
        "verb",
        "number * 1.0D AS started",
        "number * 1.0D + 0.5D AS ended",
        "epoch + int(j = 4) AS epoch",
        "id AS txn",
        "CASE WHEN writes THEN 'accounts' END AS topic",
        f"CASE WHEN writes THEN g * {RECORDS_A_TXN} + j - 1 END AS partition",
        "CASE WHEN writes THEN (m div 2) * 4 + m % 2 END AS offset",
        "CASE WHEN writes THEN j - 1 END AS ordinal",
        f"CASE WHEN j < 4 THEN {RECORDS_A_TXN} END AS size",
        "CASE WHEN writes THEN concat('money:', a, ':', CASE j WHEN 1 THEN '-2' ELSE '+1' END) END AS payload",
    )
    return inits.unionByName(rows, allowMissingColumns=True).selectExpr(
        "*",
        "concat('teller-', a) AS actor",
        "concat('teller-', a) AS transactional_id",
        "'wire-v2' AS client",
        "'v2' AS protocol",
        "'done' AS outcome",
        "0 AS error",
        "1000 + a AS producer_id",
    )


def _log(records: DataFrame) -> DataFrame:
    marked = records.selectExpr(
        "partition",
        "a",
        "epoch",
        "explode(array(named_struct('offset', offset, 'value', value, 'marker', -1), "
        "named_struct('offset', offset + 2, 'value', NULL, 'marker', int(aborted)))) AS row",
    )
    return marked.selectExpr(
        "'accounts' AS topic",
        "partition",
        "row.offset AS offset",
        "row.offset AS batch_offset",
        "1000 + a AS producer_id",
        "epoch",
        "CASE WHEN row.marker < 0 THEN 0 ELSE -1 END AS sequence",
        "true AS transactional",
        "CASE row.marker WHEN 0 THEN 'COMMIT' WHEN 1 THEN 'ABORT' END AS control",
        "row.value AS value",
    ).sortWithinPartitions("partition", "offset")


def _reads(records: DataFrame, reader: str) -> DataFrame:
    position = "NULL" if reader == "spark" else f"id * {RECORDS_A_TXN} + k"
    return records.selectExpr(
        f"'{reader}' AS reader",
        "'accounts' AS topic",
        "partition",
        "offset",
        "value",
        f"{position} AS position",
    )


def _readers(ends: DataFrame, txns: int) -> DataFrame:
    both = ends.withColumn("reader", F.explode(F.array(F.lit("wire"), F.lit("spark"))))
    end = f"{_end(txns)}L"
    rows = ("reader AS kind", "'read_committed' AS isolation", f"{end} AS end_offset", f"{end} AS wanted")
    return both.selectExpr("*", *rows)


def _filled(rows: DataFrame, table: str) -> DataFrame:
    """The table's columns, in order; what the history does not tell is null."""
    there = set(rows.columns)
    return rows.select(
        *(
            (F.col(field.name) if field.name in there else F.lit(field.default)).cast(field.type).alias(field.name)
            for field in table_fields(table)
        )
    )
