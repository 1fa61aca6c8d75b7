"""The wire client's exchanges are a trace of the model: some order of the unsure ones explains every answer.

Ids are independent, so each is searched by itself (:mod:`harness.judge.order_searches`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.base.json_value import Json
from harness.evidence.run_facts import facts_of
from harness.judge.check import Check, Examined, finding_rows
from harness.judge.client_trace import SENDING, Row, Window
from harness.judge.judge_context import JudgeContext
from harness.judge.listed_fact import listed_fact
from harness.judge.order_search import USED_BEFORE, OrderSearch, SearchedId
from harness.judge.order_searches import search_all
from harness.judge.stale_brokers import COORDINATORS_KEPT, STATE_PARTITIONS, StaleBrokers, StaleWindow
from harness.model.protocol_profile import (
    KNOWS_PATTERN,
    NEW_PROTOCOL_OFFSETS,
    TELLS_CORDONED,
    ProtocolProfile,
    profile_of,
)
from harness.model.traces.trace_check import Explained
from harness.model.traces.traced_cluster import UsedId
from harness.spark.session.driver_rows import collect_rows

CLOCK_SLACK_MS = 500
"""By which a broker's timeout may come too soon: its clock is another one than the run's."""
SHOWN = 20
"""Ids that are named of those that were not searched to the end."""
REPEATED = "requests repeated"
"""What a fault counts that sends requests twice."""
MAY_BE_STALE = "(kind = 'network' AND `where` LIKE '%link-%') OR kind IN ('leadership', 'process')"
"""Faults while which, and a little later, a broker may not know that another one leads or coordinates in its place:
links between brokers, or to the controller, and whatever makes another broker lead. Also where nothing is cut off a
broker follows the new leader, which can acknowledge then, before its own coordinator gives up the partition
(``BrokerMetadataPublisher.onMetadataUpdate``)."""
STALE_MS = 5_000
"""How much later: some tries to reach the controller (``controller.quorum.request.timeout.ms`` is 2 s)."""
EXPIRATION = "transactional.id.expiration.ms"
"""The setting of a scenario whose ids expire; seven days where nobody sets it."""
NAMED = ("Produce", "WriteTxnMarkers", "AddPartitionsToTxn")
"""APIs without whose versions nothing is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcusedByFaults:
    """Answers that a sound Kafka gives under the faults of a history, and otherwise does not.

    :param repeated: When requests were sent twice.
    :param stale: When a broker may not have known that another one leads or coordinates in its place.
    :param clocks_apart_ms: How far two readings of brokers' clocks may have been apart. A transaction that began by a
        clock that was behind, or is looked at by one that is ahead, times out so much too soon
        (``TransactionStateManager.timedOutTransactions``).
    """

    repeated: Sequence[Window]
    stale: Sequence[StaleWindow]
    clocks_apart_ms: int


def examine(context: JudgeContext) -> Examined:
    """Witnesses: transactional ids that wire clients alone used, and whose answers were searched for an order."""
    newest = newest_versions(context.history.run)
    profile = offered_profile(newest, context.history.run)
    if profile is None:
        return Examined(witnesses=0, reason="what the brokers offered is not known")
    faults = excused_by(context.tables["faults"])
    search = OrderSearch(
        profile=profile,
        produce=newest["Produce"],
        repeated=faults.repeated,
        stale=StaleBrokers(
            windows=faults.stale,
            state_partitions=_state_partitions(context.history.run),
            kept=kept_coordinators(context.history.run),
        ),
        timeouts=_timeouts(context, CLOCK_SLACK_MS + faults.clocks_apart_ms),
        expires=_expires(context.history.run),
        used=used_before(context.history.run),
    )
    searched = search_all(_of_wire_clients(context), search)
    given_up = [one.transactional_id for one in searched if one.explained == Explained.GIVEN_UP]
    broken = [one for one in searched if one.explained == Explained.NO]
    named = _named_already(context, searched) if broken else set()
    rows = [_finding(one) for one in broken if one.transactional_id not in named]
    return Examined(
        witnesses=len(searched) - len(given_up),
        findings=[finding_rows(context.history.spark, rows)] if rows else [],
        undecided=f"too many orders to search, {len(given_up)} ids: {', '.join(given_up[:SHOWN])}" if given_up else "",
        reason="no transactional id was used by wire clients alone",
    )


def newest_versions(run: Mapping[str, Json]) -> Mapping[str, int]:
    """Of each API that ``run.json`` tells of."""
    apis = run.get("apis")
    told = apis.items() if isinstance(apis, dict) else ()
    return {name: each[1] for name, each in told if isinstance(each, list) and isinstance(each[1], int)}


def offered_profile(newest: Mapping[str, int], run: Mapping[str, Json]) -> ProtocolProfile | None:
    """What brokers with these versions do, and with the run's level; None where too little is known.

    Another API that is not told of, as in a history of another tool, counts as the newest one.
    """
    features = run.get("features")
    finalized = features.get("finalized") if isinstance(features, dict) else None
    level = finalized.get("transaction.version", 0) if isinstance(finalized, dict) else 0
    if not isinstance(features, dict) or not isinstance(level, int) or not newest.keys() >= set(NAMED):
        return None
    return profile_of(
        produce=newest["Produce"],
        write_markers=newest["WriteTxnMarkers"],
        add_partitions=newest["AddPartitionsToTxn"],
        level=level,
        offset_commit=newest.get("TxnOffsetCommit", NEW_PROTOCOL_OFFSETS),
        list_transactions=newest.get("ListTransactions", KNOWS_PATTERN),
        describe_log_dirs=newest.get("DescribeLogDirs", TELLS_CORDONED),
    )


def _expires(run: Mapping[str, Json]) -> bool:
    """Whether brokers were started so that ids expire while the clients are at work."""
    properties = run.get("cluster_properties")
    return isinstance(properties, dict) and EXPIRATION in properties


def used_before(run: Mapping[str, Json]) -> Mapping[str, UsedId]:
    """Transactional ids that were in use before the round (:mod:`harness.chaos.play.used_ids`)."""
    used = listed_fact(run, USED_BEFORE, UsedId)
    return {each.transactional_id: each for each in used}


def _of_wire_clients(context: JudgeContext) -> DataFrame:
    """The operations of all ids that wire clients alone used."""
    sending = context.operations.where(F.col("transactional_id").isNotNull() & F.col("verb").isin(*SENDING))
    foreign = ~F.col("client").startswith("wire-") & (F.col("verb") != "begin")
    silent = F.expr("verb = 'init' AND outcome = 'done' AND (producer_id IS NULL OR epoch IS NULL)")
    others = sending.where(foreign | silent).select("transactional_id")
    return sending.join(others.distinct(), "transactional_id", "left_anti")


def _state_partitions(run: Mapping[str, Json]) -> int | None:
    told = facts_of(run).get(STATE_PARTITIONS)
    return told if isinstance(told, int) and told > 0 else None


def kept_coordinators(run: Mapping[str, Json]) -> frozenset[int]:
    """Partitions of ``__transaction_state`` that were never loaded anew; none where nobody tells."""
    told = facts_of(run).get(COORDINATORS_KEPT)
    return frozenset(each for each in told if isinstance(each, int)) if isinstance(told, list) else frozenset()


def excused_by(faults: DataFrame) -> ExcusedByFaults:
    """What the faults of a history excuse.

    :param faults: With the columns ``name``, ``kind``, ``where``, ``how``, ``started``, ``ended``, ``moved`` and
        ``clock_off_ms``.
    """
    kinds = (F.col("how") == REPEATED).alias("repeated"), F.expr(MAY_BE_STALE).alias("stale")
    columns = faults.select("started", "ended", "moved", "clock_off_ms", *kinds)
    rows = collect_rows(columns.where("repeated OR stale OR clock_off_ms IS NOT NULL"))
    off = [0, *(row["clock_off_ms"] for row in rows if row["clock_off_ms"] is not None)]
    return ExcusedByFaults(
        repeated=[(row["started"], row["ended"]) for row in rows if row["repeated"]],
        stale=[_stale(row) for row in rows if row["stale"]],
        clocks_apart_ms=max(off) - min(off),
    )


def _stale(row: Row) -> StaleWindow:
    moved = None if row["moved"] is None else frozenset(row["moved"].split())
    return StaleWindow(row["started"], row["ended"] + STALE_MS, moved)


def _timeouts(context: JudgeContext, slack_ms: float) -> Mapping[str, float]:
    """By transactional id: the shortest that was asked for; where no client tells, what its coordinator told at last.

    An id that is not here may time out at any time. :param slack_ms: By which a timeout may come too soon.
    """
    kept = context.tables["transactions"].select("transactional_id", "timeout_ms")
    asked = context.inits.groupBy("transactional_id").agg(F.min("timeout_ms").alias("timeout_ms"))
    rows = (*collect_rows(kept), *collect_rows(asked.where("timeout_ms IS NOT NULL")))
    return {name: max(0.0, timeout - slack_ms) for name, timeout in rows}


def _named_already(context: JudgeContext, searched: Sequence[SearchedId]) -> set[str]:
    """Ids with an identity that was handed out twice, or with a fenced producer that was served: these have a name."""
    twice = {one.transactional_id for one in searched if one.twice}
    inits = context.inits.where("outcome = 'done' AND producer_id IS NOT NULL")
    owners = inits.groupBy("producer_id").agg(F.collect_set("transactional_id").alias("owners"))
    shared = owners.where(F.size("owners") > 1).select(F.explode("owners"))
    twice |= {name for (name,) in collect_rows(shared)}
    if context.totals.defied:
        served = context.transactions.where("defied").select("txn")
        ids = context.operations.join(served, "txn", "left_semi").select("transactional_id").distinct()
        twice |= {name for (name,) in collect_rows(ids)}
    return twice


def _finding(one: SearchedId) -> Mapping[str, Any]:
    return {
        "anomaly": "no-order-explains-it",
        "detail": one.detail,
        "actor": one.actor,
        "producer_id": one.producer_id,
        "operations": one.operations,
    }


CHECK = Check(
    name="an-order-explains-the-answers",
    statement="What wire clients were answered can be explained by an order of their requests in the protocol's model.",
    anomalies=("no-order-explains-it",),
    examine=examine,
    early=True,
)
