"""The distributions of a history (:mod:`harness.evidence.history.spreads`), by DataFrame programs."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from harness.evidence.history.anomalies import PROBE
from harness.evidence.history.operation import Phase
from harness.evidence.history.spreads import Interruption, Spread, StableOffsetLag
from harness.spark.session.driver_rows import collect_rows

SHARES, ACCURACY = [0.5, 0.95, 0.99], 10_000
ASKING = ("init", "produce", "send_offsets", "commit")
"""Verbs by which a role is known to go on."""
ROLE = ["client", "role"]
ONE_FAULT = ["fault", "where", "fault_started", "fault_ended"]


def phase_of(phases: Sequence[Phase], at: Column) -> Column:
    """The name of the first phase that a moment lies in; empty outside all."""
    named = [F.when((at >= phase.started) & (at < phase.ended), F.lit(phase.name)) for phase in phases]
    return F.coalesce(*named, F.lit(""))


def percentiles(value: Column) -> Column:
    """The three of :class:`Spread`, as an array; null where there is no value."""
    return F.percentile_approx(value, SHARES, ACCURACY)


def lags(levels: DataFrame, phases: Sequence[Phase]) -> tuple[StableOffsetLag, ...]:
    """The lag in each phase; the two offsets of a sample are read one after the other, so it may look negative."""
    lag = F.greatest(F.col("high_watermark") - F.col("last_stable_offset"), F.lit(0)).cast("double")
    rows = collect_rows(levels.groupBy(phase_of(phases, F.col("at")).alias("phase")).agg(*_spread_of(lag, "lag")))
    spreads = ((row.phase, _spread(row, "lag")) for row in sorted(rows, key=lambda row: row.phase))
    return tuple(StableOffsetLag(phase=phase, lag=lag) for phase, lag in spreads if lag is not None)


def interruptions(operations: DataFrame, faults: DataFrame) -> tuple[Interruption, ...]:
    """What each fault that struck was to each client; a role keeps its name when a successor takes over."""
    struck = faults.where("struck > 0").select(
        F.col("name").alias("fault"),
        "where",
        F.col("started").alias("fault_started"),
        F.col("ended").alias("fault_ended"),
    )
    met = _waits(operations).join(F.broadcast(struck), F.expr("since < fault_ended AND upto >= fault_started"))
    waited = F.col("upto") - F.greatest("since", "fault_started")
    after = F.col("upto") >= F.col("fault_ended")
    again = after & F.col("committed")
    each = met.groupBy(*ONE_FAULT, *ROLE).agg(
        F.max(waited).alias("unavailable"),
        F.min(F.when(again, F.col("upto") - F.col("fault_ended"))).alias("recovered"),
        F.max(after).alias("went_on"),
    )
    lost = F.col("went_on") & F.col("recovered").isNull()
    rows = each.groupBy("fault", "client").agg(
        F.countDistinct("where", "fault_started", "fault_ended").alias("faults"),
        *_spread_of(F.col("unavailable"), "unavailable"),
        *_spread_of(F.col("recovered"), "recovered"),
        F.count(F.when(lost, 1)).alias("not_again"),
    )
    return tuple(_interruption(row) for row in sorted(collect_rows(rows), key=lambda row: (row.fault, row.client)))


def _waits(operations: DataFrame) -> DataFrame:
    """A row a stretch between two commits of a role: client, role, since, upto, committed (False: the last one)."""
    ours = operations.where(~F.col("actor").startswith(PROBE))
    committed = (F.col("verb") == "commit") & (F.col("outcome") == "done")
    roles = ours.groupBy("client", F.regexp_replace("actor", r"\.\d+$", "").alias("role")).agg(
        F.min("started").alias("first"),
        F.max(F.when(F.col("verb").isin(*ASKING), F.col("ended"))).alias("last"),
        F.max(F.col("verb") == "commit").alias("commits"),
        F.sort_array(F.collect_list(F.when(committed, F.col("ended")))).alias("ends"),
    )
    since, upto = F.concat(F.array("first"), "ends"), F.concat("ends", F.array("last"))
    pairs = F.posexplode(F.arrays_zip(since.alias("since"), upto.alias("upto"))).alias("nth", "wait")
    rows = roles.where("commits").select(*ROLE, F.size("ends").alias("of"), pairs)
    return rows.select(*ROLE, "wait.since", "wait.upto", (F.col("nth") < F.col("of")).alias("committed"))


def _spread_of(value: Column, name: str) -> tuple[Column, ...]:
    return (
        F.count(value).alias(f"{name}_count"),
        percentiles(value).alias(f"{name}_shares"),
        F.max(value).alias(f"{name}_most"),
    )


def _spread(row: Row, name: str) -> Spread | None:
    if not row[f"{name}_count"]:
        return None
    p50, p95, p99 = row[f"{name}_shares"]
    return Spread(count=row[f"{name}_count"], p50=p50, p95=p95, p99=p99, most=row[f"{name}_most"])


def _interruption(row: Row) -> Interruption:
    unavailable = _spread(row, "unavailable")
    assert unavailable is not None, "a row is of a role that the fault met"
    return Interruption(
        fault=row.fault,
        client=row.client,
        faults=row.faults,
        unavailable=unavailable,
        recovered=_spread(row, "recovered"),
        not_again=row.not_again,
    )
