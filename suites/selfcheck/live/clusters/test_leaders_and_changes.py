"""On a real cluster: a moved leader that is asked again, and changes that are undone to what was there before.

Needs Java, and once Maven and Go. The old leader is a follower whose fetches are held, so that its high watermark stays
behind while the new leader's goes on: whoever believes it is wrong, and from Fetch v11 on it answers all the same.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from harness.base import wait
from harness.base.unprepared import Unprepared
from harness.chaos.observe.watermark_sampler import WatermarkSampler
from harness.cluster.cluster import Cluster, ClusterOptions
from harness.cluster.opening import open_cluster
from harness.cluster.target import Released
from harness.evidence.history.history_journal import HistoryJournal
from harness.faults.fault_target import FaultTarget
from harness.kafka.administration import VERIFICATION, Administration
from harness.kafka.leader_client import LeaderClient
from harness.kafka.leaders.moving import move
from harness.lab.lab import Lab
from harness.lab.partition import Partition
from harness.wire.requests.log.fetch import LAST_BY_NAME
from harness.wire.requests.log.fetch_watermarks import FetchWatermarks
from harness.wire.requests.log.list_offsets import ListOffsets
from harness.wire.requests.transactions.describe_producers import DescribeProducers
from suites.selfcheck.fixtures.live_clients import lab_on

pytestmark = pytest.mark.live

VERSION = "4.3.1"
OLD, NEW, THIRD = 1, 2, 3
FEATURE = "transaction.version"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One whose leaders soon give up waiting for a follower, so that what is written without it counts."""
    options = ClusterOptions(properties={"replica.lag.time.max.ms": "1500"})
    run_dir = tmp_path_factory.mktemp("leaders")
    made = open_cluster(Released(VERSION), backend="process", options=options, run_dir=run_dir, progress=lambda _: None)
    yield made
    made.close()


@pytest.fixture
def lab(cluster: Cluster, tmp_path: Path) -> Iterator[Lab]:
    """A lab of the test's own."""
    made = lab_on(cluster, "LEADERS", tmp_path / "spark")
    yield made
    made.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A partition whose leader moved after two offsets; the new leader is at four, the old one still at two.

    :param believing: A client that takes the old leader for the leader.
    """

    old: Partition
    new: Partition
    believing: LeaderClient

    @property
    def topic_partition(self) -> tuple[str, int]:
        return self.new.topic_partition


@pytest.fixture
def moved(lab: Lab) -> Iterator[Moved]:
    """See :class:`Moved`."""
    old = lab.partition("P1", leader=OLD, replicas=2)
    order = [OLD, *(node for node in replicas(lab, old) if node != OLD)]
    new = replace(old, leader=order[1])
    fault_target = FaultTarget(
        cluster=lab.cluster, clock=lab.clock, client=lab.step_recorder("observer").client, topics={}
    )
    believing = LeaderClient.over(lab.cluster.topology.lanes["observer"], lab.clock)
    commit(lab, old)
    assert believing.at_leader(old.topic_partition, ListOffsets(topic=old.topic, partition=old.index)).offset == 2
    wait.until(
        lambda: {*fault_target.in_sync(*old.topic_partition)} == {*order}, what="both in sync", timeout_seconds=30
    )
    move(fault_target, old.topic, old.index, order[::-1])
    with lab.hold(lab.link(OLD, new.leader), name="fetches of the old leader"):
        commit(lab, new)
        yield Moved(old=old, new=new, believing=believing)
    believing.close()
    fault_target.close()


def replicas(lab: Lab, partition: Partition) -> list[int]:
    """The partition's replicas in their order."""
    client = LeaderClient.over(lab.cluster.topology.lanes["observer"], lab.clock)
    answer = client.metadata_of(OLD, (partition.topic,))
    client.close()
    assert answer is not None
    return answer.topics[partition.topic]["partitions"][partition.index]["replicas"]


def commit(lab: Lab, partition: Partition) -> None:
    """A record and a marker, by a coordinator that reaches the leader."""
    txn = lab.producer("victim", coordinator=THIRD)
    txn.add(partition)
    assert txn.produce(partition, as_="record").error == 0
    txn.end(commit=True)
    lab.observer.sample(partition)
    wait.until(
        lambda: lab.observer.end_offset(partition) == lab.observer.last_stable_offset(partition) > 1,
        what="the marker",
        timeout_seconds=10,
    )


def test_an_old_leader_answers_in_the_old_way_and_is_wrong(lab: Lab, moved: Moved) -> None:
    request = FetchWatermarks(partitions=(moved.topic_partition,))
    answer = lab.step_recorder("observer").client.call(OLD, request, LAST_BY_NAME).result
    assert answer.watermarks == {moved.topic_partition: (2, 2)}


def test_a_client_that_believes_in_the_old_leader_gets_the_new_ones_truth(moved: Moved) -> None:
    where, believing = moved.topic_partition, moved.believing
    assert believing.leader(where) == OLD
    assert believing.at_leader(where, FetchWatermarks(partitions=(where,))).watermarks == {where: (4, 4)}


def test_producers_are_those_of_the_new_leader(moved: Moved) -> None:
    where = moved.topic_partition
    kept = moved.believing.at_leader(where, DescribeProducers(topic=where[0], partition=where[1]))
    assert len(kept.producers) == 2


def test_the_sampler_writes_nothing_that_the_old_leader_says(moved: Moved, tmp_path: Path) -> None:
    history_journal = HistoryJournal(tmp_path / "history")
    sampler = WatermarkSampler(
        leader_client=moved.believing, partitions=[moved.topic_partition], history_journal=history_journal
    )
    sampler._taken = 1  # leaders were looked up just before
    for _ in range(4):
        sampler.sample()
    history_journal.close()
    levels = [json.loads(line) for line in (history_journal.folder / "levels.jsonl").read_text().splitlines()]
    assert {level["high_watermark"] for level in levels} == {4}
    assert 1 <= len(levels) <= 3, "the first sample went to the old leader, and was refused"


def test_the_observer_says_that_the_leader_is_another(lab: Lab, moved: Moved) -> None:
    with pytest.raises(Unprepared, match="NOT_LEADER_OR_FOLLOWER"):
        lab.observer.sample(moved.old)
    with pytest.raises(Unprepared, match="no longer, in charge"):
        lab.observer.producers(moved.old, as_="producers")
    assert not lab.notes.steps[-1].step.name.startswith("producers")
    assert lab.observer.sample(moved.new).high_watermark == 4


@pytest.mark.parametrize(
    "before", [{}, {"": "true"}, {"2": "true"}, {"": "true", "3": "false"}], ids=["none", "all", "one", "both"]
)
def test_a_dynamic_setting_is_back_after_the_block(lab: Lab, before: Mapping[str, str]) -> None:
    admin = lab.admin
    for resource, value in before.items():
        admin._alter(resource, VERIFICATION, value)
    wait.until(lambda: known(admin) == {"": None, **before}, what="the value of before", timeout_seconds=10)
    with admin.setting(VERIFICATION, "false"):
        assert {admin.config(broker, VERIFICATION) for broker in admin.brokers} == {"false"}
    assert known(admin) == {"": None, **before}
    for resource in before:
        admin._alter(resource, VERIFICATION, None)
    wait.until(lambda: known(admin) == {"": None}, what="the value of the release", timeout_seconds=10)


def known(admin: Administration) -> Mapping[str, str | None]:
    """The dynamic values of all brokers and of each."""
    return admin._dynamic(VERIFICATION)


def test_a_feature_is_back_after_an_interrupt(lab: Lab) -> None:
    def interrupted() -> None:
        with lab.admin.feature(FEATURE, 1):
            levels.append(lab.admin._level(FEATURE))
            raise KeyboardInterrupt

    levels = list[int]()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [*levels, lab.admin._level(FEATURE)] == [1, 2]
