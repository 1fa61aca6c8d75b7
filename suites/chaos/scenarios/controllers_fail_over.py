"""Controllers fail over: the active one of three is killed, brokers are killed under new ones, and answers are lost."""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario, ScenarioCluster
from suites.chaos.workloads.transfer import Transfer
from toxics.clients import client_killed
from toxics.frames import lost_response
from toxics.process import kill, kill_controller

SCENARIO = Scenario(
    name="controllers-fail-over",
    title="No money is lost while controllers of the metadata quorum are killed one after the other",
    workload=Transfer(),
    clients=("wire-v2", "librdkafka", "wire-v1"),
    toxics=(kill_controller.TOXIC, kill.TOXIC, lost_response.TOXIC),
    client_toxics=(client_killed.TOXIC,),
    seconds=30.0,
    crowd=Crowd(),
    cluster=ScenarioCluster(controllers=3),
    priority=6,
)
