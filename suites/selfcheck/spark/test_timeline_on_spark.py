"""The timeline that Spark makes: the numbers of plain Python on a small history, and small on a large one.

Starts a Spark session of its own; needs Java, and Maven once. No broker, no network.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from harness.chaos.observe.deleted_topics import ends_of_deleted
from harness.evidence.history.operation import Outcome
from harness.evidence.history.timeline import INTERVALS, OPERATIONS_KEPT, PARTITIONS_KEPT, POINTS_KEPT, Timeline
from harness.evidence.json_codec import to_json
from harness.report.chaos.round_picture import picture
from harness.spark.history.history_frames import History
from harness.spark.history.table_schema import schema, table_fields
from harness.spark.history.timeline_frames import timeline
from harness.spark.session.spark_session import open_session
from suites.selfcheck.fixtures import chaos_folders
from suites.selfcheck.fixtures.sample_history import sample_history

LARGE, UNSURE_EVERY, PARTITIONS = 200_000, 500, 60


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with open_session(name="timeline") as session:
        yield session.spark


@pytest.fixture(scope="module")
def large(spark: SparkSession) -> Timeline:
    """Of a history that is too large to be drawn whole."""
    tables = {"operations": _operations(spark), "partitions": _ends(spark), "levels": _levels(spark)}
    return timeline(history(spark, tables))


def test_a_small_history_has_the_numbers_of_plain_python(spark: SparkSession, tmp_path: Path) -> None:
    folder = chaos_folders.broken(tmp_path / "round") / "history"
    names = ("operations", "faults", "phases", "levels", "partitions")
    read = {name: spark.read.schema(schema(name)).json(str(folder / f"{name}.jsonl")) for name in names}
    made, wanted = timeline(history(spark, read)), chaos_folders.timeline(sample_history())
    assert len(made.tallies) == len(set(made.tallies)) > 5
    assert set(made.tallies) == set(wanted.tallies)
    for line, known in zip(made.levels, wanted.levels, strict=True):
        assert set(line.points) <= set(known.points)
        assert line.points[-1] == known.points[-1]
        assert (line.samples, line.end) == (known.samples, known.end)
    assert replace(made, tallies=(), levels=()) == replace(wanted, tallies=(), levels=())


def test_tables_that_are_empty_leave_their_part_empty(spark: SparkSession) -> None:
    made = timeline(history(spark, {}))
    assert (made.operations, made.drawn, made.actors, made.levels, made.faults) == (0, (), (), (), ())
    assert (made.tallies, made.latencies) == ((), ())
    assert "<svg" in picture(made, None)


def test_a_topic_that_was_deleted_is_not_drawn(spark: SparkSession, tmp_path: Path) -> None:
    here = replace(next(ends_of_deleted([("accounts", 0)], 9.0)), high_watermark=4, last_stable_offset=4, leader=1)
    ends = tmp_path / "partitions.jsonl"
    ends.write_text("\n".join(map(to_json, (here, *ends_of_deleted([("notes", 0)], 9.0)))), encoding="utf-8")
    made = timeline(history(spark, {"partitions": spark.read.schema(schema("partitions")).json(str(ends))}))
    assert ([line.topic for line in made.levels], made.partitions_in_all) == (["accounts"], 1)


def test_a_large_history_stays_small_and_keeps_every_failure(large: Timeline) -> None:
    unsure = [each.number for each in large.drawn if each.outcome is Outcome.UNSURE]
    assert large.operations == large.drawable == LARGE
    assert unsure == list(range(0, LARGE, UNSURE_EVERY))
    assert OPERATIONS_KEPT * 0.8 < len(large.drawn) <= OPERATIONS_KEPT
    assert len(large.paces) <= INTERVALS
    assert sum(pace.records for pace in large.paces) == LARGE - len(unsure)
    assert (large.latencies[0].count, large.latencies[0].longest) == (LARGE, 9.0)
    assert large.latencies[0].p50 in (4.0, 5.0), "half of them took at most 4 ms, and percentiles are approximate"


def test_the_worst_partitions_are_kept_and_a_gap_of_one_sample_survives_the_thinning(large: Timeline) -> None:
    assert (len(large.levels), large.partitions_in_all) == (PARTITIONS_KEPT, PARTITIONS)
    assert sorted(line.last_stable_offset_lag for line in large.levels) == list(
        range(PARTITIONS - PARTITIONS_KEPT, PARTITIONS)
    )
    for line in large.levels:
        assert line.samples == 1_000
        assert 100 < len(line.points) <= POINTS_KEPT
        assert max(point.high_watermark - point.last_stable_offset for point in line.points) == 777


def history(spark: SparkSession, tables: Mapping[str, DataFrame]) -> History:
    """A history with these tables; the others are empty."""
    names = ("operations", "faults", "phases", "levels", "partitions", "log", "reads")
    empty = {name: _table(spark.range(0), name) for name in names}
    return History(spark=spark, tables={**empty, **tables}, missing=frozenset(), run={}, notes=())


def _operations(spark: SparkSession) -> DataFrame:
    """Fifty produces a second, for more than an hour; every five hundredth is unsure."""
    number = F.col("id")
    return _table(
        spark.range(LARGE),
        "operations",
        number=number,
        actor=F.concat(F.lit("writer-"), number % 7),
        client=F.lit("wire-v2"),
        verb=F.lit("produce"),
        started=number * 20.0,
        ended=number * 20.0 + number % 10,
        outcome=F.when(number % UNSURE_EVERY == 0, "unsure").otherwise("done"),
        topic=F.lit("t"),
        partition=number % PARTITIONS,
    )


def _levels(spark: SparkSession) -> DataFrame:
    """A thousand samples a partition; a single one shows a gap."""
    number = F.floor(F.col("id") / PARTITIONS)
    return _table(
        spark.range(PARTITIONS * 1_000),
        "levels",
        at=number * 4_000.0,
        topic=F.lit("t"),
        partition=F.col("id") % PARTITIONS,
        high_watermark=number + 1_000,
        last_stable_offset=F.when(number == 501, number + 223).otherwise(number + 1_000),
    )


def _ends(spark: SparkSession) -> DataFrame:
    number = F.col("id")
    return _table(
        spark.range(PARTITIONS),
        "partitions",
        at=F.lit(LARGE * 20.0),
        topic=F.lit("t"),
        partition=number,
        log_start_offset=F.lit(0),
        high_watermark=F.lit(5_000),
        last_stable_offset=5_000 - number,
        leader=F.lit(1),
    )


def _table(rows: DataFrame, name: str, **columns: Column) -> DataFrame:
    """The columns of a table; those that are not given have their default."""
    return rows.select(
        *(
            columns.get(field.name, F.lit(field.default)).cast(field.type).alias(field.name)
            for field in table_fields(name)
        )
    )
