"""A look at a cluster whose coordinators or leaders move by themselves."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import cast

import pytest

from harness.base.kafka_error import KafkaError
from harness.base.unprepared import Unprepared
from harness.explore import cell_batch
from harness.explore.asker import Asker
from harness.explore.cell_batch import CellBatch
from harness.explore.cell_results import CellOutcome
from harness.explore.explored_cluster import GROUPS_TOPIC, ExploredCluster, PartitionPool
from harness.explore.looks.group_look import GroupToLookAt
from harness.explore.looks.pool_look import PoolLook
from harness.explore.looks.stale_route import StaleRoute, require_sound
from harness.kafka.belongings import Belongings
from harness.model.model_requests import ModelAnswer
from harness.wire.records.transaction_state import TOPIC
from harness.wire.wire_client import WireClient
from suites.selfcheck.explore.test_cell_runs import LOOK, committed
from suites.selfcheck.fixtures.fake_kafka import FakeKafka

KEPT = (GROUPS_TOPIC, 0)
POOL = PartitionPool(topic="t", topic_id=None, leaders={}, groups={KEPT: 1})


def a_kafka() -> FakeKafka:
    return FakeKafka(coordinator_of=lambda _: 1)


def explored(kafka: FakeKafka) -> ExploredCluster:
    kafka.place(TOPIC, 1)
    kafka.place(GROUPS_TOPIC, 1)
    made = ExploredCluster(
        asker=Asker(()), observer=cast(WireClient, kafka), brokers=(1, 2), belongings=Belongings(), verifying=Lock()
    )
    made.prepare()
    return made


def test_who_does_not_lead_any_more_is_told_from_other_errors() -> None:
    require_sound("OffsetFetch", KafkaError.NONE)
    with pytest.raises(StaleRoute, match=r"OffsetFetch .* NOT_COORDINATOR"):
        require_sound("OffsetFetch", KafkaError.NOT_COORDINATOR)
    with pytest.raises(Unprepared, match="GROUP_AUTHORIZATION_FAILED") as refused:
        require_sound("OffsetFetch", KafkaError.GROUP_AUTHORIZATION_FAILED)
    assert not isinstance(refused.value, StaleRoute)


def test_a_pool_knows_the_coordinators_of_groups_that_were_looked_up_last() -> None:
    kafka = a_kafka()
    cluster = explored(kafka)
    kafka.place(GROUPS_TOPIC, 2)
    assert cluster.as_led_now(POOL).groups == {KEPT: 1}
    cluster.look_up_coordinators()
    assert cluster.as_led_now(POOL).groups == {KEPT: 2}
    kafka.place(GROUPS_TOPIC, -1)
    cluster.look_up_coordinators()
    assert cluster.as_led_now(POOL).groups == {KEPT: 1}, "who led last"


def test_a_look_is_taken_again_where_a_coordinator_has_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    kafka, asked = a_kafka(), list[int]()
    cluster = explored(kafka)

    def look_at(
        _cluster: ExploredCluster, pool: PartitionPool, _ids: Sequence[str], _groups: Mapping[str, GroupToLookAt]
    ) -> PoolLook:
        asked.append(pool.groups[KEPT])
        kafka.place(GROUPS_TOPIC, 2)
        require_sound("OffsetFetch", KafkaError.NOT_COORDINATOR if pool.groups[KEPT] == 1 else KafkaError.NONE)
        return LOOK

    monkeypatch.setattr(cell_batch, "look_at", look_at)
    assert CellBatch(cluster=cluster, pool=POOL, runs=()).explore() == []
    assert asked == [1, 2]


def test_a_cluster_that_nobody_leads_any_more_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_at(*_: object) -> PoolLook:
        raise StaleRoute("nobody leads")

    monkeypatch.setattr(cell_batch, "look_at", look_at)
    monkeypatch.setattr(cell_batch, "LED_SECONDS", 0.05)
    with pytest.raises(StaleRoute, match="nobody leads"):
        CellBatch(cluster=explored(a_kafka()), pool=POOL, runs=()).explore()


@pytest.mark.parametrize(
    ("passed", "outcome"),
    [("NOT_COORDINATOR", CellOutcome.NOT_REACHED), ("CONCURRENT_TRANSACTIONS", CellOutcome.DIFFERS)],
)
def test_what_is_seen_is_not_told_to_differ_where_a_request_may_have_been_carried_out_twice(
    monkeypatch: pytest.MonkeyPatch, passed: str, outcome: CellOutcome
) -> None:
    shown = LOOK.ids["x"].copy()
    shown["producer_epoch"] += 1
    monkeypatch.setattr(cell_batch, "look_at", lambda *_: replace(LOOK, ids={"x": shown}))
    one = committed()
    one.note_passed(ModelAnswer(passed))
    (fresh,) = CellBatch(cluster=explored(a_kafka()), pool=POOL, runs=(one,)).explore()
    assert fresh.result.outcome is outcome
