"""A history as the judge sees it: typed tables in Spark, checked, whoever wrote them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from harness.history.evidence import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A run's tables by name (:data:`harness.history.chronicle.TABLES`), every one of them, with its columns in order.

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

    :raises Trouble: EVIDENCE_UNREADABLE, with the place and the reason, when it is not what the format says.
    """
    raise NotImplementedError(folder)
