"""A history as the judge sees it: typed tables in Spark, checked, also if another tool wrote them."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from harness.base.json_value import Json
from harness.evidence.history.history_journal import CHAOS_FORMAT, REQUIRED, TABLES
from harness.evidence.history.seal_manifest import SealManifest, is_complete_parquet, parquet_files
from harness.evidence.json_codec import Malformed
from harness.evidence.run_folder import RunFolder
from harness.spark.history.seal import Sealing, complete, lines_of, read_sealed, refuse
from harness.spark.history.table_schema import Field, sealed_schema, table_fields
from harness.spark.history.well_formed import first_malformation
from harness.spark.session.conf_scope import FIXED_PLANS, conf_scope
from harness.spark.session.spark_master import first_line

WIDENED: Mapping[type, tuple[str, ...]] = {
    int: ("bigint", "int", "smallint", "tinyint"),
    float: ("double", "float", "bigint", "int"),
    str: ("string",),
    bool: ("boolean",),
}
"""Column types that are accepted in Parquet of other tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A run's tables by name (:data:`harness.evidence.history.history_journal.TABLES`), every one of them, with its
    columns in order.

    ``log`` and ``reads`` have the parts of their ``value`` beside it: ``txn``, ``ordinal``, ``size`` (LONG) and
    ``payload`` (STRING), all null for a value that is none of ours.

    :param missing: Tables that the folder does not have; they are empty here, and what rests on them is not exercised.
    :param run: ``run.json``.
    :param notes: What limits the evidence, one sentence each: torn lines that were dropped, tables that are missing.
    """

    spark: SparkSession
    tables: Mapping[str, DataFrame]
    missing: frozenset[str]
    run: Mapping[str, Json]
    notes: tuple[str, ...]


def open_history(spark: SparkSession, folder: Path) -> History:
    """The history in a run folder; a table is taken from its Parquet, or else from its JSON lines.

    :raises UserError: EVIDENCE_UNREADABLE, with the place and the reason, when it does not fit the format.
    """
    run = RunFolder.open(folder, kind="chaos", layout=CHAOS_FORMAT).run()
    history = folder / "history"
    manifest = _manifest(history)
    sealed = manifest.tables if manifest else {}
    foreign = [name for name in TABLES if name not in sealed and (history / f"{name}.parquet").exists()]
    lines = [name for name in lines_of(history) if name not in sealed and name not in foreign]
    missing = frozenset(TABLES.keys() - {*sealed, *foreign, *lines})
    if lacking := [name for name in REQUIRED if name in missing]:
        refuse(f"{folder} has no history/{lacking[0]}.parquet and no history/{lacking[0]}.jsonl")
    sealing = Sealing(spark=spark, source=history, target=_scratch(spark, history), tables=lines)
    tables = {
        **{name: read_sealed(spark, history / f"{name}.parquet", name) for name in sealed},
        **_foreign(spark, history, foreign),
        **(sealing.run() if lines else {}),
        **{name: _empty(spark, name) for name in missing},
    }
    tables["operations"] = _with_protocol(tables["operations"])
    notes = (*(manifest.notes if manifest else ()), *sealing.notes, *map(_missed, sorted(missing)))
    return History(spark=spark, tables=tables, missing=missing, run=run, notes=notes)


def _manifest(history: Path) -> SealManifest | None:
    try:
        manifest = SealManifest.read(history)
    except Malformed as error:
        refuse(f"{history}/seal.json cannot be read: {error}")
    if manifest is not None and (broken := manifest.broken(history)) is not None:
        refuse(f"{history}/{broken}; if it was changed on purpose, remove {history}/seal.json")
    return manifest


def _foreign(spark: SparkSession, history: Path, names: Sequence[str]) -> Mapping[str, DataFrame]:
    """Tables that another tool wrote as Parquet: every file and every row is checked."""
    tables = {name: _written_elsewhere(spark, history / f"{name}.parquet", name) for name in names}
    if not tables:
        return {}
    try:
        with conf_scope(spark, FIXED_PLANS):
            malformation = first_malformation(tables)
    except (PySparkException, Py4JJavaError) as error:
        refuse(f"the Parquet of {history} cannot be read: {first_line(error)}")
    if malformation is not None:
        refuse(f"{history}/{malformation.table}.parquet: {malformation.reason}")
    return tables


def _written_elsewhere(spark: SparkSession, path: Path, table: str) -> DataFrame:
    files = parquet_files(path)
    if cut := [file for file in files if not is_complete_parquet(file)]:
        refuse(f"{cut[0]} is cut short, or no Parquet")
    if not files:
        refuse(f"{path} has no Parquet files")
    try:
        rows = spark.read.parquet(str(path))
    except (PySparkException, Py4JJavaError) as error:
        refuse(f"{path} cannot be read: {first_line(error)}")
    return complete(table, rows.select(*(_column(path, field, dict(rows.dtypes)) for field in table_fields(table))))


def _column(path: Path, field: Field, found: Mapping[str, str]) -> object:
    kind = found.get(field.name)
    if kind is None:
        if field.required:
            refuse(f"{path} has no column {field.name}")
        return F.lit(field.default).cast(field.type).alias(field.name)
    if kind not in WIDENED[field.kind]:
        refuse(f"{path}: column {field.name} is {kind}, not {field.type.simpleString()}")
    return F.col(f"`{field.name}`").cast(field.type).alias(field.name)


def _empty(spark: SparkSession, table: str) -> DataFrame:
    return spark.range(0).select(*(F.lit(None).cast(f.dataType).alias(f.name) for f in sealed_schema(table)))


def _scratch(spark: SparkSession, history: Path) -> Path:
    """Where JSON lines are typed for this session: its own scratch, or beside the lines where a cluster must see it."""
    local = spark.conf.get("spark.master", "").startswith("local")
    parent = spark.conf.get("spark.local.dir") if local else str(history)
    return Path(tempfile.mkdtemp(prefix="typed-", dir=parent))


def _with_protocol(operations: DataFrame) -> DataFrame:
    """Where ``protocol`` is null, a client whose name ends in ``-v2`` uses Transactions V2."""
    by_name = F.when(F.col("client").endswith("-v2"), "v2")
    return operations.withColumn("protocol", F.coalesce("protocol", by_name))


def _missed(table: str) -> str:
    return f"there is no table {table}: what rests on it is not exercised"
