"""A warm cluster with a lab on it, for tests of what is read from it, and transactions to be read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from harness.base.clock import RunClock
from harness.chaos.observe.drain import Scope
from harness.cluster.cluster import Cluster
from harness.faults.fault_target import FaultTarget
from harness.lab.lab import Lab
from harness.lab.partition import Partition
from harness.lab.producer import Producer
from harness.wire.requests.groups.find_coordinator import GROUP
from suites.selfcheck.fixtures.live_clients import lab_on, process_cluster

VERSION = "4.3.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainEnvironment:
    """A warm cluster, a lab on it, and the lab's clock."""

    cluster: Cluster
    lab: Lab
    clock: RunClock

    def fault_target(self) -> FaultTarget:
        """The cluster as toxics see it."""
        return FaultTarget(
            cluster=self.cluster, clock=self.clock, client=self.lab.step_recorder("observer").client, topics={}
        )

    def scope(self, places: Sequence[Partition], *producers: Producer, groups: Sequence[str] = ()) -> Scope:
        """Everything of these, over the observer's lane."""
        return Scope(
            partitions=[partition.topic_partition for partition in places],
            broker_addresses=self.cluster.topology.lanes["observer"],
            transactional_ids=[producer.transactional_id for producer in producers],
            groups=groups,
            states_of="",
        )


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DrainEnvironment]:
    """One cluster for all."""
    run_dir = tmp_path_factory.mktemp("drains")
    cluster = process_cluster(VERSION, run_dir)
    lab = lab_on(cluster, "DRAIN", run_dir / "spark")
    lab.admin.coordinator("any group", GROUP)  # makes the topic of groups, for which no test should have to wait
    yield DrainEnvironment(cluster=cluster, lab=lab, clock=lab.clock)
    lab.close()
    cluster.close()


def transact(producer: Producer, txn: int, partitions: Sequence[Partition], *, commit: bool) -> None:
    """One record to each partition, and the end."""
    for ordinal, partition in enumerate(partitions):
        producer.add(partition)
        producer.produce(partition, values=(f"{txn}/{ordinal}/{len(partitions)}/x",))
    producer.end(commit=commit)
