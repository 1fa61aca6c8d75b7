"""Disks and replicas: transfers while log directories fail and partitions lose all replicas but one."""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.transfer import Transfer
from toxics.clients import client_killed
from toxics.coordinator import move_coordinator, one_replica
from toxics.process import full_disk

SCENARIO = Scenario(
    name="disks-and-replicas",
    title="No money is lost while disks are full, partitions are reassigned and coordinators move",
    workload=Transfer(),
    clients=("wire-v2", "wire-v1", "librdkafka"),
    toxics=(full_disk.TOXIC, one_replica.TOXIC, move_coordinator.TOXIC),
    client_toxics=(client_killed.TOXIC,),
    seconds=32.0,
    crowd=Crowd(),
    priority=5,
)
