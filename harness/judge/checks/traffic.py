"""Faults met traffic: before each that struck transactions were committed, and while it was on clients were asking.

A fault that strikes an idle cluster proves nothing. How much a round must have stands in its ``run.json``; a history
of which none is asked is judged without.
"""

from collections.abc import Iterator, Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.base.json_value import Json
from harness.evidence.history.anomalies import PROBE
from harness.evidence.run_facts import table_of
from harness.judge.check import Check, Examined
from harness.judge.judge_context import JudgeContext
from harness.spark.session.driver_rows import collect_rows

MINIMUM = "minimum_traffic"
"""The fact that says how much: ``before``, transactions committed, and ``during``, operations under way."""
BEFORE_MS = 3_000
"""How long before a fault transactions are counted."""
SHARE = 0.5
"""Of the faults that struck, how many must have met enough."""
SHOWN = 3


def examine(context: JudgeContext) -> Examined:
    """Witnesses: faults that struck and met enough traffic."""
    wanted = minimum(context.history.run)
    if wanted is None:
        return Examined(witnesses=0, reason="the round asks for no minimum of traffic")
    rows = collect_rows(_met(context.tables["faults"].where("struck > 0"), context.operations))
    short = list(_short([row.asDict() for row in rows], *wanted))
    met = len(rows) - len(short)
    if not rows or met < SHARE * len(rows):
        return Examined(witnesses=0, required=True, reason=_reason(short) or "no fault struck")
    return Examined(witnesses=met, required=True)


def minimum(run: Mapping[str, Json]) -> tuple[int, int] | None:
    """``before`` and ``during`` as ``run.json`` asks for them; None where it does not."""
    wanted = table_of(run, MINIMUM)
    before, during = wanted.get("before"), wanted.get("during")
    return (before, during) if isinstance(before, int) and isinstance(during, int) else None


def _met(faults: DataFrame, operations: DataFrame) -> DataFrame:
    """A row a fault with what it met."""
    windows = faults.select("name", "where", F.col("started").alias("since"), F.col("ended").alias("upto"))
    asked = operations.where(~F.col("actor").startswith(PROBE) & F.col("verb").isin("produce", "commit"))
    under_way = (F.col("started") <= F.col("upto")) & (F.col("ended") >= F.col("since") - BEFORE_MS)
    beside = F.broadcast(windows).join(asked.select("started", "ended", "verb", "outcome"), under_way, "left")
    committed = (F.col("verb") == "commit") & (F.col("outcome") == "done") & (F.col("ended") < F.col("since"))
    return beside.groupBy("name", "where", "since", "upto").agg(
        F.count(F.when(committed, 1)).alias("before"),
        F.count(F.when(F.col("ended") >= F.col("since"), 1)).alias("during"),
    )


def _short(rows: Sequence[Mapping[str, Json]], before: int, during: int) -> Iterator[str]:
    for row in rows:
        found = (row["before"], row["during"])
        assert isinstance(found[0], int), "a count"
        assert isinstance(found[1], int), "a count"
        if found[0] < before or found[1] < during:
            yield f"{row['name']} on {row['where']}: {found[0]} of {before} before, {found[1]} of {during} during"


def _reason(short: Sequence[str]) -> str:
    more = f"; and {len(short) - SHOWN} more" if len(short) > SHOWN else ""
    return f"too little traffic met the faults: {'; '.join(short[:SHOWN])}{more}" if short else ""


CHECK = Check(
    name="faults-met-traffic",
    statement="Transactions were committed before the faults that struck, and clients were asking while they were on.",
    anomalies=(),
    examine=examine,
)
