"""The timeline of a history, by DataFrame programs; what comes back to the driver is small for any history.

Each part is one aggregation over one table; only the numbers that bound it are computed in the driver. Operations are
sampled by a hash of their number, so that the same history gives the same picture.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from harness.evidence.history.operation import FaultWindow, Outcome, Phase
from harness.evidence.history.timeline import (
    ACTORS_KEPT,
    INTERVALS,
    OPERATIONS_KEPT,
    OUTCOMES_KEPT,
    PARTITIONS_KEPT,
    POINTS_KEPT,
    WINDOWS_KEPT,
    ActorSpan,
    Latency,
    OutcomeCount,
    Throughput,
    Timeline,
    TimelineOperation,
    WatermarkLine,
    WatermarkPoint,
)
from harness.spark.history.history_frames import History
from harness.spark.history.sizing import sized
from harness.spark.history.spread_frames import interruptions, lags, percentiles, phase_of
from harness.spark.session.driver_rows import collect_rows
from harness.spark.session.parallel import in_parallel

SAMPLE_BUCKETS = 1 << 20
SECOND_MS = 1_000.0
DONE = Outcome.DONE.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """What bounds the parts: when the run began and ended, and how many operations there are of each kind."""

    started: float
    ended: float
    operations: int
    done: int
    not_done: int
    committed: int

    @property
    def length_ms(self) -> float:
        return max(self.ended - self.started, 1.0)

    @property
    def stretch_ms(self) -> float:
        """Milliseconds of a stretch of throughput: whole seconds, at most STRETCHES of them."""
        return max(SECOND_MS, math.ceil(self.length_ms / INTERVALS / SECOND_MS) * SECOND_MS)


def timeline(history: History) -> Timeline:
    """The run's timeline, see :class:`harness.evidence.history.timeline.Timeline`."""
    with sized(history) as partitioned:
        return _timeline(partitioned)


def _timeline(history: History) -> Timeline:
    tables, operations = history.tables, history.tables["operations"]
    phases, faults, actors, ends, outcomes = _in_parallel(
        lambda: _windows(tables["phases"], Phase)[0],
        lambda: _windows(tables["faults"], FaultWindow),
        lambda: _actors(operations),
        lambda: _ends(tables["partitions"]),
        lambda: _outcomes(operations),
    )
    extent = _extent(outcomes, (*phases, *faults[0]), tuple(ends[0].values()))
    drawn, levels, paces, latencies, interrupted, lagged = _in_parallel(
        lambda: _drawn(operations, extent),
        lambda: _levels(tables["levels"], ends[0], extent),
        lambda: _paces(operations, extent),
        lambda: _latencies(operations, phases),
        lambda: interruptions(operations, tables["faults"]),
        lambda: lags(tables["levels"], phases),
    )
    return Timeline(
        started=extent.started,
        ended=extent.ended,
        operations=extent.operations,
        drawable=extent.done + extent.not_done,
        committed=extent.committed,
        drawn=drawn,
        actors=actors[0],
        actors_in_all=actors[1],
        levels=levels,
        partitions_in_all=ends[1],
        stretch_ms=extent.stretch_ms,
        paces=paces,
        latencies=latencies,
        tallies=_tallies(outcomes),
        faults=faults[0],
        faults_in_all=faults[1],
        phases=phases,
        interruptions=interrupted,
        lags=lagged,
        notes=history.notes,
    )


def _in_parallel(*parts: Callable[[], Any]) -> list[Any]:
    """Parts of different types."""
    return in_parallel(parts)


def _windows(table: DataFrame, kind: type) -> tuple[tuple[Any, ...], int]:
    """Faults or phases, by start, and how many there are in all."""
    found = collect_rows(table.orderBy("started", "ended", "name").limit(WINDOWS_KEPT + 1))
    in_all = len(found) if len(found) <= WINDOWS_KEPT else _number(table)
    return tuple(kind(**row.asDict()) for row in found[:WINDOWS_KEPT]), in_all


def _outcomes(operations: DataFrame) -> Sequence[Row]:
    """Operations by verb, outcome and error: the few combinations that there are, with what all parts need of each."""
    return collect_rows(
        operations.groupBy("verb", "outcome", "error").agg(
            F.count("*").alias("count"),
            F.min("reason").alias("reason"),
            F.min("started").alias("started"),
            F.max("ended").alias("ended"),
            _count(_drawable()).alias("drawable"),
        )
    )


def _extent(outcomes: Sequence[Row], windows: Sequence[Phase | FaultWindow], ends: Sequence[WatermarkPoint]) -> Extent:
    started = [each.started for each in (*outcomes, *windows)]
    ended = [each.ended for each in (*outcomes, *windows)] + [end.at for end in ends]
    return Extent(
        started=min(started, default=0.0),
        ended=max(ended, default=0.0),
        operations=sum(row["count"] for row in outcomes),
        done=sum(row.drawable for row in outcomes if row.outcome == DONE),
        not_done=sum(row.drawable for row in outcomes if row.outcome != DONE),
        committed=sum(row["count"] for row in outcomes if (row.verb, row.outcome) == ("commit", DONE)),
    )


def _drawn(operations: DataFrame, extent: Extent) -> tuple[TimelineOperation, ...]:
    room = max(OPERATIONS_KEPT - extent.not_done, 0)
    not_done = (F.col("outcome") != DONE) & _sampled(extent.not_done, OPERATIONS_KEPT)
    chosen = operations.where(_drawable() & (not_done | ((F.col("outcome") == DONE) & _sampled(extent.done, room))))
    fields = ("number", "actor", "verb", "outcome", "started", "ended", "error", "reason", "txn", "offset")
    place = F.when(F.col("topic").isNotNull(), F.concat_ws("-", "topic", "partition")).alias("place")
    ordered = chosen.select(*fields, place).orderBy(F.col("outcome") == DONE, "number")
    drawn = [
        TimelineOperation(**{**row.asDict(), "outcome": Outcome(row.outcome)})
        for row in collect_rows(ordered.limit(OPERATIONS_KEPT))
    ]
    return tuple(sorted(drawn, key=lambda each: each.number))


def _sampled(number: int, room: int) -> Column:
    """True for about ``room`` of ``number`` operations, always for the same ones; for all where there is room."""
    if number <= room:
        return F.lit(True)
    return F.pmod(F.xxhash64("number"), F.lit(SAMPLE_BUCKETS)) < int(SAMPLE_BUCKETS * room * 0.93 / number)


def _drawable() -> Column:
    """All but ``begin``, which only the client knows of, and polls that brought nothing."""
    idle = (F.col("verb") == "poll") & (F.coalesce(F.col("count"), F.lit(0)) == 0) & (F.col("outcome") == DONE)
    return (F.col("verb") != "begin") & ~idle


def _actors(operations: DataFrame) -> tuple[tuple[ActorSpan, ...], int]:
    spans = operations.groupBy("actor").agg(
        F.min("client").alias("client"),
        F.min("started").alias("started"),
        F.max("ended").alias("ended"),
        F.count("*").alias("operations"),
        _count(F.col("outcome") == Outcome.REFUSED.value).alias("refused"),
        _count(F.col("outcome") == Outcome.UNSURE.value).alias("unsure"),
    )
    worst = spans.orderBy((F.col("refused") + F.col("unsure")).desc(), F.desc("operations"), "actor")
    found = collect_rows(worst.limit(ACTORS_KEPT + 1))
    in_all = len(found) if len(found) <= ACTORS_KEPT else _number(spans)
    kept = [ActorSpan(**row.asDict()) for row in found[:ACTORS_KEPT]]
    return tuple(sorted(kept, key=lambda span: (span.started, span.actor))), in_all


def _ends(partitions: DataFrame) -> tuple[Mapping[tuple[str, int], WatermarkPoint], int]:
    """The last known end of each partition, of the worst ones, and how many partitions there are.

    A topic that was deleted has no leader, and nothing that could be drawn.
    """
    there = partitions.where("leader IS NULL OR leader >= 0")
    latest = there.groupBy("topic", "partition").agg(F.max_by(_point(), "at").alias("end"))
    behind = F.col("end.high_watermark") - F.col("end.last_stable_offset")
    worst = latest.orderBy(behind.desc(), F.desc("end.high_watermark"), "topic", "partition")
    found = collect_rows(worst.limit(PARTITIONS_KEPT + 1))
    in_all = len(found) if len(found) <= PARTITIONS_KEPT else _number(latest)
    return {(row.topic, row.partition): WatermarkPoint(**row.end.asDict()) for row in found[:PARTITIONS_KEPT]}, in_all


def _levels(
    levels: DataFrame, ends: Mapping[tuple[str, int], WatermarkPoint], extent: Extent
) -> tuple[WatermarkLine, ...]:
    thin = _thinned(levels, list(ends), extent) if ends else {}
    return tuple(_level_line(partition, thin.get(partition, ()), end) for partition, end in sorted(ends.items()))


def _thinned(
    levels: DataFrame, partitions: Sequence[tuple[str, int]], extent: Extent
) -> Mapping[tuple[str, int], Sequence[Row]]:
    """Of each slice of time the last sample, and that with the widest gap; rows by partition."""
    wanted = F.concat_ws("-", "topic", "partition").isin([f"{topic}-{partition}" for topic, partition in partitions])
    slices = POINTS_KEPT // 2
    slice_ = F.least(F.floor((F.col("at") - extent.started) / extent.length_ms * slices), F.lit(slices - 1))
    gap = F.col("high_watermark") - F.col("last_stable_offset")
    sliced = levels.where(wanted).groupBy("topic", "partition", slice_.alias("slice"))
    last, widest = F.max_by(_point(), "at").alias("last"), F.max_by(_point(), gap).alias("widest")
    found: dict[tuple[str, int], list[Row]] = {}
    for row in collect_rows(sliced.agg(last, widest, F.count("*").alias("count"))):
        found.setdefault((row.topic, row.partition), []).append(row)
    return found


def _level_line(partition: tuple[str, int], slices: Sequence[Row], end: WatermarkPoint) -> WatermarkLine:
    points = {WatermarkPoint(**point.asDict()) for row in slices for point in (row.last, row.widest)}
    return WatermarkLine(
        topic=partition[0],
        partition=partition[1],
        points=tuple(sorted(points, key=lambda point: (point.at, point.high_watermark))),
        samples=sum(row["count"] for row in slices),
        end=end,
    )


def _point() -> Column:
    return F.struct("at", "high_watermark", "last_stable_offset")


def _paces(operations: DataFrame, extent: Extent) -> tuple[Throughput, ...]:
    stretch = F.floor((F.col("ended") - extent.started) / extent.stretch_ms).alias("stretch")
    done = F.col("outcome") == DONE
    counted = operations.groupBy(stretch).agg(
        _count((F.col("verb") == "commit") & done).alias("txns"),
        _count((F.col("verb") == "produce") & done).alias("records"),
        _count(F.col("outcome") == Outcome.REFUSED.value).alias("refused"),
        _count(F.col("outcome") == Outcome.UNSURE.value).alias("unsure"),
    )
    found = {row.stretch: row for row in collect_rows(counted)}
    stretches = max(math.ceil(extent.length_ms / extent.stretch_ms), *(number + 1 for number in found), 1)
    return tuple(_pace(extent, number, found.get(number)) for number in range(stretches))


def _pace(extent: Extent, number: int, row: Row | None) -> Throughput:
    at = extent.started + number * extent.stretch_ms
    if row is None:
        return Throughput(at=at, txns=0, records=0, refused=0, unsure=0)
    return Throughput(at=at, txns=row.txns, records=row.records, refused=row.refused, unsure=row.unsure)


def _latencies(operations: DataFrame, phases: Sequence[Phase]) -> tuple[Latency, ...]:
    took = F.col("ended") - F.col("started")
    measured = operations.groupBy("verb", phase_of(phases, F.col("started")).alias("phase")).agg(
        F.count("*").alias("count"),
        percentiles(took).alias("shares"),
        F.max(took).alias("longest"),
    )
    return tuple(_latency(row) for row in sorted(collect_rows(measured), key=lambda row: (row.verb, row.phase)))


def _latency(row: Row) -> Latency:
    p50, p95, p99 = row.shares
    return Latency(verb=row.verb, phase=row.phase, count=row["count"], p50=p50, p95=p95, p99=p99, longest=row.longest)


def _tallies(outcomes: Sequence[Row]) -> tuple[OutcomeCount, ...]:
    counted = [
        OutcomeCount(
            verb=row.verb, outcome=Outcome(row.outcome), error=row.error, count=row["count"], reason=row.reason or ""
        )
        for row in outcomes
    ]
    ordered = sorted(counted, key=lambda each: (-each.count, each.verb, each.outcome, each.error or 0))
    return tuple(ordered[:OUTCOMES_KEPT])


def _count(condition: Column) -> Column:
    return F.coalesce(F.sum(condition.cast("long")), F.lit(0))


def _number(frame: DataFrame) -> int:
    (row,) = collect_rows(frame.agg(F.count("*").alias("rows")))
    number: int = row.rows
    return number
