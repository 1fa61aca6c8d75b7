"""Controllers fail over: the active one of three is killed, and brokers are killed under the ones that took over."""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario, ScenarioCluster
from suites.chaos.workloads.transfer import Transfer
from toxics.clients import client_killed
from toxics.process import kill, kill_controller

SCENARIO = Scenario(
    name="controllers-fail-over",
    title="No money is lost while controllers of the metadata quorum are killed one after the other",
    workload=Transfer(),
    clients=("wire-v2", "librdkafka", "wire-v1"),
    toxics=(kill_controller.TOXIC, kill.TOXIC),
    client_toxics=(client_killed.TOXIC,),
    seconds=30.0,
    crowd=Crowd(),
    cluster=ScenarioCluster(controllers=3),
    priority=6,
)
