"""The wire client's exchanges are a trace of the model: some order of the unsure ones explains every answer."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

from pyspark.sql import functions as F

from harness.base.json_value import Json
from harness.judge.check import FINDING, Check, Examined
from harness.judge.client_trace import COLUMNS, SENDING, ClientTrace, Row
from harness.judge.judge_context import JudgeContext
from harness.model.model_requests import ModelAnswer
from harness.model.protocol_profile import profile_of
from harness.model.traces.trace_check import Explained, TraceVerdict, check_trace
from harness.spark.session.driver_rows import collect_rows

MOST_OPERATIONS = 100_000
"""That are searched of a history: each takes about a millisecond, in the driver. Witnesses count the ids."""
CLOCK_SLACK_MS = 500
"""By which a broker's timeout may come too soon: its clock is another one than the run's."""
REPEATED = "requests repeated"
"""What a fault counts that sends requests twice."""
NAMED = ("Produce", "WriteTxnMarkers", "AddPartitionsToTxn")


def examine(context: JudgeContext) -> Examined:
    """Witnesses: transactional ids that wire clients alone used, and whose answers were searched for an order."""
    offered = _offered(context.history.run)
    if offered is None:
        return Examined(witnesses=0, reason="what the brokers offered is not known")
    traces, profile = _traces(context, offered[0]), profile_of(*offered)
    timeouts = _timeouts(context)
    verdicts = {
        name: check_trace(trace.requests, profile, timeout_ms=timeouts.get(name, 0)) for name, trace in traces.items()
    }
    given_up = [name for name, one in verdicts.items() if one.explained is Explained.GIVEN_UP]
    broken = {name: one for name, one in verdicts.items() if one.explained is Explained.NO}
    named = _named_already(context, traces) if broken else set()
    rows = [_finding(traces[name], one) for name, one in broken.items() if name not in named]
    schema = ", ".join(f"{name} {kind}" for name, kind in FINDING.items())
    return Examined(
        witnesses=len(verdicts) - len(given_up),
        findings=[context.history.spark.createDataFrame(rows, schema)] if rows else [],
        undecided=f"too many orders to search: {', '.join(given_up)}" if given_up else "",
        reason="no transactional id was used by wire clients alone",
    )


def _offered(run: Mapping[str, Json]) -> Sequence[int] | None:
    """The newest version of each of ``NAMED`` and the transaction version, as ``run.json`` keeps them."""
    apis, features = run.get("apis"), run.get("features")
    if not isinstance(apis, dict) or not isinstance(features, dict):
        return None
    newest = [versions[1] for name in NAMED if isinstance(versions := apis.get(name), list)]
    finalized = features.get("finalized")
    level = finalized.get("transaction.version", 0) if isinstance(finalized, dict) else 0
    numbers = [number for number in (*newest, level) if isinstance(number, int)]
    return numbers if len(numbers) == len(NAMED) + 1 else None


def _traces(context: JudgeContext, produce: int) -> Mapping[str, ClientTrace]:
    """By transactional id: as many ids as have :data:`MOST_OPERATIONS` together, the first ones by name."""
    sending = context.operations.where(F.col("transactional_id").isNotNull() & F.col("verb").isin(*SENDING))
    foreign = ~F.col("client").startswith("wire-") & (F.col("verb") != "begin")
    silent = F.expr("verb = 'init' AND outcome = 'done' AND (producer_id IS NULL OR epoch IS NULL)")
    others = sending.where(foreign | silent).select("transactional_id")
    ours = sending.join(others.distinct(), "transactional_id", "left_anti")
    by_id = collect_rows(ours.groupBy("transactional_id").count().orderBy("transactional_id"))
    ends = accumulate(number for _, number in by_id)
    searched = [name for (name, _), end in zip(by_id, ends, strict=True) if end <= MOST_OPERATIONS]
    rows = collect_rows(ours.where(F.col("transactional_id").isin(searched)).select("transactional_id", *COLUMNS))
    several = defaultdict[str, list[Row]](list)
    for row in rows:
        several[row["transactional_id"]].append(row.asDict())
    repeated = _repeated(context)
    return {
        name: ClientTrace.of(name, each, produce=produce, repeated=repeated) for name, each in sorted(several.items())
    }


def _repeated(context: JudgeContext) -> Sequence[tuple[float, float]]:
    faults = context.tables["faults"].where(F.col("how") == REPEATED)
    return [(row["started"], row["ended"]) for row in collect_rows(faults.select("started", "ended"))]


def _timeouts(context: JudgeContext) -> Mapping[str, float]:
    """By transactional id, as its coordinator told after the run; an id that is not here may time out at any time."""
    kept = context.tables["transactions"].select("transactional_id", "timeout_ms")
    return {name: max(0.0, timeout - CLOCK_SLACK_MS) for name, timeout in collect_rows(kept)}


def _named_already(context: JudgeContext, traces: Mapping[str, ClientTrace]) -> set[str]:
    """Ids with an identity that was handed out twice, or with a fenced producer that was served: these have a name."""
    twice = {name for name, trace in traces.items() if len(set(trace.handed_out)) < len(trace.handed_out)}
    inits = context.operations.where("verb = 'init' AND outcome = 'done' AND producer_id IS NOT NULL")
    owners = inits.groupBy("producer_id").agg(F.collect_set("transactional_id").alias("owners"))
    shared = owners.where(F.size("owners") > 1).select(F.explode("owners"))
    twice |= {name for (name,) in collect_rows(shared)}
    if context.totals.defied:
        served = context.transactions.where("defied").select("txn")
        ids = context.operations.join(served, "txn", "left_semi").select("transactional_id").distinct()
        twice |= {name for (name,) in collect_rows(ids)}
    return twice


def _finding(trace: ClientTrace, verdict: TraceVerdict) -> Mapping[str, Any]:
    last = verdict.prefix[-1]
    assert last.answer is not None, "what is not explained is an answer"
    allowed = " or ".join(sorted(map(_words, verdict.allowed))) or "nothing"
    asked = type(last.request).__name__.removesuffix("Asked")
    told = f"in no order of the unsure requests of {trace.id} is {asked} v{last.request.version} answered "
    numbers = [trace.numbers[one] for one in verdict.prefix[-10:]]
    return {
        **dict.fromkeys(FINDING),
        "anomaly": "no-order-explains-it",
        "detail": f"{told}{_words(last.answer)}, as operation {numbers[-1]} was; allowed: {allowed}",
        "actor": last.who,
        "producer_id": last.request.producer_id if last.request.producer_id >= 0 else last.answer.producer_id,
        "operations": numbers,
    }


def _words(answer: ModelAnswer) -> str:
    return " ".join(_parts(answer))


def _parts(answer: ModelAnswer) -> Iterator[str]:
    yield "success" if answer.accepted else answer.error
    if answer.epoch >= 0:
        yield f"with epoch {answer.epoch}"


CHECK = Check(
    name="an-order-explains-the-answers",
    statement="What wire clients were answered can be explained by an order of their requests in the protocol's model.",
    anomalies=("no-order-explains-it",),
    examine=examine,
)
