"""What a check is: a name, a statement, and a function that counts witnesses and finds anomalies.

A check first counts, which is cheap. Only where that leaves a suspicion does it give DataFrames of the columns of
:data:`FINDING`, which are collected after all checks have counted.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from harness.judge.judge_context import JudgeContext

FINDING = {
    "anomaly": "string",
    "detail": "string",
    "view": "string",
    "txn": "long",
    "actor": "string",
    "partition_id": "int",
    "offset": "long",
    "producer_id": "long",
    "epoch": "long",
    "lasted_ms": "double",
    "operations": "array<bigint>",
}
"""Columns of findings with Spark's types; ``partition_id`` as in :mod:`harness.judge.partitions`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What a check has counted before its findings are collected.

    :param findings: DataFrames of :data:`FINDING` (see :func:`findings`); none where nothing is suspected.
    :param required: Without witnesses of it the whole history shows nothing.
    """

    witnesses: int
    findings: Sequence[DataFrame] = field(default=())
    undecided: str = ""
    reason: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A check; each module of the package binds one as ``CHECK``.

    :param anomalies: All that it may name.
    :param early: It takes long, and mostly does without :attr:`JudgeContext.totals`: it is begun before others.
    """

    name: str
    statement: str
    anomalies: tuple[str, ...]
    examine: Callable[[JudgeContext], Examined]
    early: bool = False


OF_RECORD = {"txn": "txn", "partition_id": "partition_id", "offset": "offset", "producer_id": "pid", "epoch": "epoch"}
"""Columns of a finding that is about a record of the log."""


def findings(rows: DataFrame, **columns: Any) -> DataFrame:
    """``rows`` as findings: the columns given as expressions, names of columns, or literals by :func:`F.lit`."""
    unknown = columns.keys() - FINDING.keys()
    assert not unknown, f"findings have no {unknown}"
    return rows.select(*(_typed(columns.get(name), kind).alias(name) for name, kind in FINDING.items()))


def finding_rows(spark: SparkSession, rows: Iterable[Mapping[str, Any]]) -> DataFrame:
    """Findings that were not found by Spark: each has what it tells of :data:`FINDING`'s columns, null elsewhere."""
    schema = ", ".join(f"{name} {kind}" for name, kind in FINDING.items())
    return spark.createDataFrame([{**dict.fromkeys(FINDING), **row} for row in rows], schema)


def _typed(given: Any, kind: str) -> Any:
    return (F.col(given) if isinstance(given, str) else F.lit(given)).cast(kind)


def sentence(pattern: str, *columns: Any) -> Any:
    """A sentence with columns for its ``%s``."""
    texts = (F.coalesce((F.col(one) if isinstance(one, str) else one).cast("string"), F.lit("?")) for one in columns)
    return F.format_string(pattern, *texts)
