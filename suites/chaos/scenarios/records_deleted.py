"""Records deleted: partitions lose their beginnings under open transactions and slow markers, and leaders move."""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.interleave import Interleave
from toxics.clients import client_killed
from toxics.coordinator import move_leader, trim_log
from toxics.frames import slow_markers

SCENARIO = Scenario(
    name="records-deleted",
    title="Behind deleted records all is as it should be, and transactions that lost some of theirs come to an end",
    workload=Interleave(),
    clients=("wire-v2", "wire-v1", "librdkafka"),
    toxics=(trim_log.TOXIC, move_leader.TOXIC, slow_markers.TOXIC),
    client_toxics=(client_killed.TOXIC,),
    seconds=25.0,
    crowd=Crowd(),
    priority=5,
)
