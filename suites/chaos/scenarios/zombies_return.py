"""Zombies return: producers that share a transactional id, over links that lose answers and are slow."""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.zombies import Zombies
from toxics.clients import client_killed, client_paused
from toxics.coordinator import move_coordinator
from toxics.frames import lost_response
from toxics.network import latency

SCENARIO = Scenario(
    name="zombies-return",
    title="Fenced producers go on writing and committing while answers are lost and the coordinator moves",
    workload=Zombies(),
    clients=("wire-v2", "wire-v1", "librdkafka"),
    toxics=(latency.TOXIC, lost_response.TOXIC, move_coordinator.TOXIC),
    client_toxics=(client_killed.TOXIC, client_paused.TOXIC),
    crowd=Crowd(),
    priority=1,
)
