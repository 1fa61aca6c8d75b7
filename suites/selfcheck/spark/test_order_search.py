"""The search for an order comes to the same in Spark's executors as in the driver, and leaves no id out."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from harness.base.json_value import Json
from harness.base.user_error import UserError
from harness.judge import order_searches
from harness.judge.checks.model_order import (
    REPEATED,
    STALE_MS,
    excused_by,
    kept_coordinators,
    newest_versions,
    offered_profile,
    used_before,
)
from harness.judge.order_search import OrderSearch
from harness.judge.order_searches import search_all
from harness.model.protocol_profile import NEWEST
from harness.model.traces.trace_check import Explained
from harness.model.traces.traced_cluster import UsedId
from harness.spark.session.spark_session import SparkHandle, open_session
from suites.selfcheck.fixtures.histories.wire_operations import wire_operations

SEARCH = OrderSearch(profile=NEWEST, produce=12, repeated=(), timeouts={})
IDS = 8
FAULT_COLUMNS = (
    "name string, kind string, where string, how string, started double, ended double, moved string,"
    " clock_off_ms bigint"
)


@pytest.fixture(scope="module")
def session() -> Iterator[SparkHandle]:
    """One JVM for this file."""
    with open_session(name="orders") as opened:
        yield opened


def test_executors_come_to_what_the_driver_comes_to(session: SparkHandle) -> None:
    operations = wire_operations(session.spark, IDS, 5, skips_epoch=frozenset({3, 7}))
    in_driver = search_all(operations, SEARCH, in_driver=10_000)
    assert search_all(operations, SEARCH, in_driver=0) == in_driver
    broken = {one.transactional_id for one in in_driver if one.explained == Explained.NO}
    assert (len(in_driver), broken) == (IDS, {"id-3", "id-7"})


def test_a_finding_of_an_executor_tells_its_operations(session: SparkHandle) -> None:
    operations = wire_operations(session.spark, 2, 3, skips_epoch=frozenset({1}))
    _, broken = search_all(operations, SEARCH, in_driver=0)
    assert broken.operations is not None
    assert broken.operations[-1] == 10_000_011
    assert "success with epoch 3" in (broken.detail or "").partition("allowed: ")[2]


def test_what_the_executors_are_told_reaches_them(session: SparkHandle) -> None:
    operations = wire_operations(session.spark, 2, 2)
    wrong = replace(SEARCH, profile=replace(NEWEST, verifies=False, level=0), timeouts={"id-0": 1e9})
    assert search_all(operations, wrong, in_driver=0) == search_all(operations, wrong, in_driver=10_000)


@pytest.mark.parametrize("in_driver", [0, 10_000])
def test_ids_that_are_not_done_are_searched_again_and_share_what_that_may_cost(
    session: SparkHandle, monkeypatch: pytest.MonkeyPatch, in_driver: int
) -> None:
    operations = wire_operations(session.spark, 4, 3, skips_epoch=frozenset({1}))
    usual = search_all(operations, SEARCH, in_driver=in_driver)
    monkeypatch.setattr(order_searches, "FIRST", -1_000)
    assert search_all(operations, SEARCH, in_driver=in_driver) == usual
    monkeypatch.setattr(order_searches, "FURTHER", -4_000)
    given_up = search_all(operations, SEARCH, in_driver=in_driver)
    assert [one.transactional_id for one in given_up] == [one.transactional_id for one in usual]
    assert {one.explained for one in given_up} == {Explained.GIVEN_UP}


def test_a_history_without_wire_clients_is_searched_in_no_time(session: SparkHandle) -> None:
    operations = wire_operations(session.spark, 1, 1).where("verb = 'none'")
    assert [*search_all(operations, SEARCH, in_driver=0)] == []


def test_ids_that_were_used_before_are_told_by_the_run() -> None:
    told: dict[str, Json] = {"transactional_id": "t", "producer_id": 7, "epoch": 32_760}
    assert used_before({"facts": {"used_before": [told]}}) == {"t": UsedId("t", 7, 32_760)}
    assert used_before({"facts": {}}) == {}
    with pytest.raises(UserError, match="cannot be read: "):
        used_before({"facts": {"used_before": [{**told, "epoch": "late"}]}})


@pytest.mark.parametrize(
    ("facts", "kept"),
    [({"coordinators_kept": [1, 4]}, {1, 4}), ({"coordinators_kept": "all"}, set()), ({}, set()), (None, set())],
)
def test_coordinators_that_stayed_are_told_by_the_run(facts: Json, kept: set[int]) -> None:
    assert kept_coordinators({"facts": facts}) == kept


def test_a_broker_may_be_stale_while_another_one_comes_to_lead_and_a_little_later(session: SparkHandle) -> None:
    faults = [
        ("move-coordinator", "leadership", "log-4", "leaders moved: 1 → 2", 10.0, 20.0, "log-4 log-5", None),
        ("trim-log", "leadership", "t-4", "offsets deleted", 25.0, 26.0, "", None),
        ("rolling-restart", "process", "brokers", "restarted", 30.0, 40.0, None, None),
        ("latency", "network", "link-1-2 (upstream)", "", 50.0, 60.0, None, None),
        ("latency", "network", "lane-rival-2 (downstream)", "", 70.0, 80.0, None, None),
        ("repeat", "frames", "clients: EndTxn", REPEATED, 90.0, 95.0, None, None),
    ]
    excused = excused_by(session.spark.createDataFrame(faults, FAULT_COLUMNS))
    assert [*excused.repeated] == [(90.0, 95.0)]
    assert [(each.since, each.upto - STALE_MS) for each in excused.stale] == [(10, 20), (25, 26), (30, 40), (50, 60)]
    assert [each.moved for each in excused.stale] == [{"log-4", "log-5"}, set(), None, None]
    assert excused.clocks_apart_ms == 0


@pytest.mark.parametrize(("off", "apart"), [((3_485,), 3_485), ((-2_379,), 2_379), ((1_440, 3_485, -3_397), 6_882)])
def test_clocks_are_apart_by_what_one_was_ahead_and_another_behind(
    session: SparkHandle, off: Sequence[int], apart: int
) -> None:
    faults = [("clock-jump", "process", "broker-1", "the clock is off", 1.0, 2.0, None, each) for each in off]
    assert excused_by(session.spark.createDataFrame(faults, FAULT_COLUMNS)).clocks_apart_ms == apart


def test_the_profile_is_chosen_by_all_that_brokers_advertise() -> None:
    ours = {"Produce": 13, "WriteTxnMarkers": 1, "AddPartitionsToTxn": 5, "DescribeLogDirs": 4}
    apis: dict[str, Json] = {name: [0, version] for name, version in ours.items()}
    run: dict[str, Json] = {"apis": apis, "features": {"finalized": {"transaction.version": 2}}}
    newest = newest_versions(run)
    assert newest == ours
    before_4_3 = offered_profile(newest, run)
    assert before_4_3 == replace(NEWEST, strict_markers=False, fence_rotates=False, records_name_ids=False)
    assert offered_profile({**newest, "WriteTxnMarkers": 2, "DescribeLogDirs": 5}, run) == NEWEST
    assert offered_profile({**newest, "Produce": 12}, run) == replace(before_4_3, refuses_old_epochs_first=False)
    unknown = {name: version for name, version in newest.items() if name != "DescribeLogDirs"}
    assert offered_profile({**unknown, "WriteTxnMarkers": 2}, run) == NEWEST
    assert offered_profile({"Produce": 13}, run) is None
    assert offered_profile(newest, {}) is None
