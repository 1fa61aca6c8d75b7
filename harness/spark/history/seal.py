"""The seal of a history: JSON lines to typed Parquet, strictly. What is wrong is named by table, line and reason.

A manifest beside the tables (``history/seal.json``) lists the files with their checksums: a history that is intact
needs no second examination, and one that lost a file or was cut is not taken for a smaller one.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NoReturn

from pyarrow import ArrowException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from harness.base.user_error import ExitCode, UserError
from harness.evidence.history.history_journal import REQUIRED, TABLES
from harness.evidence.history.seal_manifest import SealManifest
from harness.evidence.json_lines import first_bad_line, first_misfit, torn_last_line, whole_bytes
from harness.spark.history.table_schema import VALUED, parts_of_value, sealed_schema, table_fields
from harness.spark.history.typed_tables import BLOCK_BYTES, write_table
from harness.spark.history.well_formed import first_malformation
from harness.spark.session.conf_scope import FIXED_PLANS, ONE_TASK, conf_scope, one_partition_each
from harness.spark.session.parallel import in_parallel
from harness.spark.session.spark_master import first_line

SHORT = 1 << 20
"""Bytes of JSON lines up to which no table is worth more than one task."""


def seal(spark: SparkSession, folder: Path) -> tuple[str, ...]:
    """Make ``history/<table>.parquet`` out of every ``history/<table>.jsonl``; the lines stay.

    What Spark's own readers delivered (``spark/*/delivered``) becomes part of ``reads``.

    :returns: What limits the evidence, one sentence each.
    :raises UserError: EVIDENCE_UNREADABLE when a line does not fit the format; nothing is sealed then.
    """
    history = folder / "history"
    lines = lines_of(history)
    if lacking := [name for name in REQUIRED if name not in lines]:
        refuse(f"{folder} has no history/{lacking[0]}.jsonl")
    sealing = Sealing(spark=spark, source=history, target=history, tables=tuple(lines))
    sealing.run()
    manifest = SealManifest.of(history, sealing.tables, sealing.notes)
    manifest.write(history)
    return manifest.notes


def lines_of(history: Path) -> Mapping[str, Path]:
    """The tables that are there as JSON lines."""
    files = {name: history / f"{name}.jsonl" for name in TABLES}
    return {name: path for name, path in files.items() if path.is_file()}


def refuse(sentence: str) -> NoReturn:
    """The evidence cannot be read; :raises UserError: always."""
    raise UserError(sentence, exit=ExitCode.EVIDENCE_UNREADABLE)


@dataclass(slots=True, kw_only=True)
class Sealing:
    """The sealing of some tables from one folder into another, which may be the same."""

    spark: SparkSession
    source: Path
    target: Path
    tables: Sequence[str]
    torn: dict[str, str] = field(default_factory=dict)

    def run(self) -> Mapping[str, DataFrame]:
        """The tables, sealed; :raises UserError: when one is malformed, and then none is."""
        with conf_scope(self.spark, FIXED_PLANS if self._long else ONE_TASK):
            self._find_torn_lines()
            self._refuse_misfits()
            self._make()
        return {table: read_sealed(self.spark, self.target / f"{table}.parquet", table) for table in self.tables}

    def _make(self) -> None:
        drafts = {table: self.target / f"{table}.parquet.part" for table in self.tables}
        try:
            in_parallel([partial(self._write, table, draft) for table, draft in drafts.items()])
            self._refuse_malformed(drafts)
            for table, draft in drafts.items():
                _replace(draft, self.target / f"{table}.parquet")
        finally:
            for draft in drafts.values():
                shutil.rmtree(draft, ignore_errors=True)

    def _write(self, table: str, draft: Path) -> None:
        lines = self._lines(table)
        try:
            write_table(table, lines, draft, whole=whole_bytes(lines, torn=table in self.torn))
        except ArrowException as error:
            self._refuse(table, f"{first_line(error)} (no line may be longer than {BLOCK_BYTES >> 20} MiB)")

    @property
    def _long(self) -> bool:
        return any(self._lines(table).stat().st_size > SHORT for table in self.tables)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was dropped, one sentence each."""
        return tuple(self.torn.values())

    def _find_torn_lines(self) -> None:
        sentences = {table: torn_last_line(self._lines(table)) for table in self.tables}
        self.torn = {table: sentence for table, sentence in sentences.items() if sentence}

    def _refuse_misfits(self) -> None:
        """Before Arrow reads them, which tells a block alone, and ends its process where a line is ``null``."""
        for table in self.tables:
            if (bad := first_misfit(self._lines(table), TABLES[table], torn=table in self.torn)) is not None:
                refuse(f"{self._lines(table)}, line {bad.number}: {bad.reason}")

    def _refuse_malformed(self, drafts: Mapping[str, Path]) -> None:
        # What Spark's readers delivered is in no JSON lines.
        full = {"reads", *(table for table in drafts if self._lines(table).stat().st_size)}
        written = {table: draft for table, draft in drafts.items() if table in full}
        tables = {name: read_sealed(self.spark, draft, name) for name, draft in written.items()}
        if found := first_malformation(tables if self._long else one_partition_each(tables)):
            self._refuse(found.table, found.reason)

    def _refuse(self, table: str, reason: str) -> NoReturn:
        path = self._lines(table)
        if (bad := first_bad_line(path, TABLES[table], torn=table in self.torn)) is not None:
            refuse(f"{path}, line {bad.number}: {bad.reason}")
        refuse(f"{path}: {reason}")

    def _lines(self, table: str) -> Path:
        return self.source / f"{table}.jsonl"


def complete(table: str, rows: DataFrame) -> DataFrame:
    """The table as it is judged: absent columns that have a default get it, values are taken apart."""
    fields = table_fields(table)
    plain = rows.select(
        *(
            F.coalesce(F.col(field.name), F.lit(field.default)).alias(field.name)
            if field.default is not None
            else F.col(field.name)
            for field in fields
        )
    )
    return plain.select("*", *parts_of_value()) if table in VALUED else plain


def read_sealed(spark: SparkSession, path: Path, table: str) -> DataFrame:
    return spark.read.schema(sealed_schema(table)).parquet(str(path))


def _replace(draft: Path, place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    draft.rename(place)
