"""A dry run: what would be created and changed, what would be out of reach, from declarations and what is offered."""

import io
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import pytest

from harness.app.planning import changed_by, own_clusters, plan_for
from harness.base.addresses import LANES, Address, Lane
from harness.base.paths import CONTRACT
from harness.base.user_error import ExitCode
from harness.cluster.cluster import Cluster
from harness.cluster.run_options import Permissions
from harness.cluster.topology import Topology
from harness.contract import Access, Offers, OwnCluster
from harness.contract.catalogue.requirement_catalogue import find
from harness.kafka.targets.target_features import TargetFeatures
from harness.report.contract.plan import Plan, print_plan
from suites.selfcheck.fixtures.command import fencepost

ENTRIES = list(find(CONTRACT))
EVERYTHING = {
    api: (0, 20)
    for entry in ENTRIES
    for api in (need.api for need in entry.requirement.needs if isinstance(need, Offers))
} | dict.fromkeys(("CreateTopics", "DeleteTopics", "DeleteGroups", "DescribeTransactions", "DescribeProducers"), (0, 9))


@dataclass(frozen=True)
class Running:
    """A cluster that is not ours."""

    topology: Topology
    identity: str = "external:a:9092 (one broker), external backend"


def running(*brokers: int, lanes: bool = True) -> Cluster:
    """Of these brokers."""
    places = {broker: Address("a", 9092) for broker in brokers}
    proxies: dict[tuple[Lane, int], str] = (
        {("victim", broker): f"lane-victim-{broker}" for broker in brokers} if lanes else {}
    )
    topology = Topology(brokers=brokers, controller=None, lanes=dict.fromkeys(LANES, places), lane_proxies=proxies)
    return cast(Cluster, Running(topology))


@dataclass
class Dry:
    """A plan for such a cluster."""

    brokers: tuple[int, ...] = (1, 2, 3)
    lanes: bool = True
    missing: tuple[str, ...] = ()
    permissions: Permissions = field(default_factory=Permissions)

    def plan(self) -> Plan:
        """Of all requirements."""
        apis = {api: limits for api, limits in EVERYTHING.items() if api not in self.missing}
        levels = {"transaction.version": (0, 2)}
        offer = TargetFeatures(brokers={}, apis=apis, supported=levels, finalized={})
        return plan_for(running(*self.brokers, lanes=self.lanes), offer, self.permissions, ENTRIES)

    def text(self) -> str:
        """As it is printed, without line breaks."""
        stream = io.StringIO()
        print_plan(self.plan(), stream)
        return " ".join(stream.getvalue().split())


def ids(access: Access) -> set[str]:
    """The requirements that declare it."""
    return {entry.requirement.id for entry in ENTRIES if access in entry.requirement.access}


def test_what_changes_the_cluster_says_what_it_changes() -> None:
    changing = {entry.requirement.id: changed_by(entry) for entry in ENTRIES}
    assert {one for one, changes in changing.items() if changes} == ids(Access.CHANGES)
    assert changing["KIP890-FEAT-07"] == ("a feature level",)


def test_changes_are_planned_only_where_they_are_allowed() -> None:
    dry = Dry()
    assert ids(Access.CHANGES).isdisjoint(each.id for each in dry.plan().tried)
    assert "KIP890-FEAT-07 a feature level: not done, because it changes the cluster" in dry.text()
    allowed = replace(dry, permissions=Permissions(changes=True))
    given = {Access.CHANGES, Access.BROKERS, Access.LANES}
    within = {each.requirement.id for each in ENTRIES if set(each.requirement.access) <= given}
    own = {each.requirement.id for each in ENTRIES if each.requirement.cluster is not None}
    assert {each.id for each in allowed.plan().tried} >= (ids(Access.CHANGES) & within) - own
    assert "KIP890-FEAT-07 a feature level: allowed" in allowed.text()


def test_what_needs_many_requests_is_planned_only_where_they_are_allowed() -> None:
    dry = Dry()
    assert ids(Access.LOAD).isdisjoint(each.id for each in dry.plan().tried)
    allowed = replace(dry, permissions=Permissions(load=True))
    assert {each.id for each in allowed.plan().tried} & ids(Access.LOAD)


def test_what_needs_links_brokers_or_lanes_is_out_of_reach_without_them() -> None:
    assert ids(Access.LINKS).isdisjoint(each.id for each in Dry().plan().tried)
    alone = Dry(brokers=(1,), lanes=False)
    assert (ids(Access.BROKERS) | ids(Access.LANES)).isdisjoint(each.id for each in alone.plan().tried)
    assert "no proxies stand between these brokers: KIP" in alone.text()


def test_what_is_not_offered_is_told_with_its_reason() -> None:
    text = Dry(missing=("WriteTxnMarkers", "DescribeProducers")).text()
    assert "WriteTxnMarkers v1 is not offered" in text
    assert "DescribeProducers: not offered, so answers and logs alone are the evidence" in text


def test_names_counts_and_ends_of_what_is_created_are_told() -> None:
    text = Dry().text()
    assert "fencepost-<run>-<requirement>-<partition>-<number>, 3 partitions each (12 where" in text
    assert Dry(missing=("DeleteTopics",)).text().count("they stay, because DeleteTopics is not offered") == 1
    assert "by asking for them, because CreateTopics is not offered" in Dry(missing=("CreateTopics",)).text()
    given = Dry(permissions=Permissions(topics=("a", "b"))).text()
    assert "topics none; records are written to a, b, and stay there" in given


def test_equal_wishes_are_planned_as_one_start_and_each_names_who_asks_for_it() -> None:
    first, second, third = (entry.requirement for entry in ENTRIES[:3])
    wish = OwnCluster(features={"transaction.version": 0})
    asking = [replace(first, cluster=wish), replace(second, cluster=replace(wish)), replace(third, cluster=None)]
    ids = ", ".join(sorted((first.id, second.id)))
    planned = own_clusters(asking)
    assert list(planned) == ["1 more cluster", "  cluster 1"]
    assert planned["  cluster 1"] == f"formatted with transaction.version=0 ({ids})"
    assert own_clusters([third]) == {}


def test_a_plan_for_a_release_starts_nothing_and_leaves_no_folder(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    ran = fencepost("qualify", "kafka:4.3.1", "--plan", "--select", "MARK-05", "--report-dir", str(folder))
    assert (ran.returncode, folder.exists()) == (ExitCode.KEPT, False)
    assert "Would be tried: 1 requirement of 1" in ran.stdout


def test_a_plan_for_a_cluster_that_is_not_there_is_one_sentence() -> None:
    ran = fencepost("qualify", "external:127.0.0.1:1", "--plan")
    assert ran.returncode == ExitCode.TARGET_UNREACHABLE
    assert "127.0.0.1:1 did not answer a Metadata request" in ran.stderr


@pytest.mark.parametrize("prefix", ["", "ä", "a b", "x" * 101])
def test_a_prefix_that_no_topic_can_have_is_refused(prefix: str) -> None:
    ran = fencepost("qualify", "external:127.0.0.1:1", "--prefix", prefix)
    assert (ran.returncode, "cannot begin a topic's name" in ran.stderr) == (ExitCode.USAGE, True)
