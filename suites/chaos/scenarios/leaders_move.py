"""Leaders move: of data and of the transaction log, and coordinators are cut off from the others."""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.interleave import Interleave
from toxics.clients import client_killed
from toxics.coordinator import isolate_coordinator, isolate_from_controller, move_coordinator, move_leader

SCENARIO = Scenario(
    name="leaders-move",
    title="Transactions keep their promises while leaders and coordinators move or are cut off",
    workload=Interleave(),
    clients=("wire-v2", "librdkafka", "wire-v1"),
    toxics=(
        move_coordinator.TOXIC,
        move_leader.TOXIC,
        isolate_coordinator.TOXIC,
        isolate_from_controller.TOXIC,
    ),
    client_toxics=(client_killed.TOXIC,),
    seconds=25.0,
    crowd=Crowd(),
    priority=4,
)
