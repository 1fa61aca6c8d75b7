"""The schemas of JSON lines, strictly: Spark's own JSON reader ignores columns that it does not know, and we must not.

A table has a handful of distinct schemas (column names with their types), however many lines; one query finds them for
all tables, and each is compared here with the table's columns.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from harness.spark.history.table_schema import Field, table_fields
from harness.spark.session.driver_rows import collect_rows

ENTRY = re.compile(r"(\w+): ([A-Z]+)(?:\(\d+,\d+\))?")
FITTING: Mapping[type, tuple[str, ...]] = {
    int: ("BIGINT",),
    float: ("BIGINT", "DECIMAL", "DOUBLE", "FLOAT"),
    str: ("STRING",),
    bool: ("BOOLEAN",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """A line that does not fit its table, with why."""

    table: str
    line: str
    reason: str


def first_misfit(spark: SparkSession, files: Mapping[str, Path], torn: Mapping[str, str]) -> Misfit | None:
    """A line that is no JSON object with the table's columns; None when all are, but for one torn line a torn table.

    :param files: Table to its JSON lines.
    :param torn: Tables whose last line is torn.
    """
    if not files:
        return None
    counted = reduce(DataFrame.unionAll, (_schemas(spark, table, path) for table, path in files.items()))
    for row in collect_rows(counted):
        if row.schema is None and row.lines == (row.table in torn):
            continue
        if (reason := _misfit(row.schema, table_fields(row.table))) is not None:
            return Misfit(table=row.table, line=row.line, reason=reason)
    return None


def _schemas(spark: SparkSession, table: str, path: Path) -> DataFrame:
    lines = spark.read.option("lineSep", "\n").text(str(path)).where("trim(BOTH ' \t\r' FROM value) <> ''")
    schema = F.when(F.is_valid_utf8("value"), F.schema_of_variant(F.try_parse_json("value")))
    typed = lines.select(F.lit(table).alias("table"), schema.alias("schema"), "value")
    return typed.groupBy("table", "schema").agg(F.count("*").alias("lines"), F.first("value").alias("line"))


def _misfit(schema: str | None, wanted: tuple[Field, ...]) -> str | None:
    if schema is None:
        return "not JSON"
    entries = schema.removeprefix("OBJECT<").removesuffix(">").split(", ") if schema.startswith("OBJECT<") else []
    found = [ENTRY.fullmatch(entry) for entry in entries if entry]
    if not schema.startswith("OBJECT<") or not all(found):
        return "not an object of plain columns"
    types = {entry[1]: entry[2] for entry in found if entry}
    fields = {field.name: field for field in wanted}
    if unknown := sorted(types.keys() - fields.keys()):
        return f"unknown columns {', '.join(unknown)}"
    if lacking := [field.name for field in wanted if field.required and field.name not in types]:
        return f"lacks {', '.join(lacking)}"
    return next((f"{name} is {kind}" for name, kind in types.items() if not _fits(kind, fields[name])), None)


def _fits(kind: str, field: Field) -> bool:
    return field.nullable if kind == "VOID" else kind in FITTING[field.kind]
