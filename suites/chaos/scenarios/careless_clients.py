"""Careless clients: requests that no correct client sends, beside transactions, while coordinators and leaders move.

Markers are slow at times, so that what is asked about an end comes while it is under way.
"""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.careless import Careless
from toxics.clients import client_killed, client_paused
from toxics.coordinator import move_coordinator, move_leader
from toxics.frames import lost_response, slow_markers
from toxics.network import latency

SCENARIO = Scenario(
    name="careless-clients",
    title="What no correct client asks is answered as the protocol says, and disturbs nobody",
    workload=Careless(),
    clients=("wire-v2", "wire-v1"),
    toxics=(latency.TOXIC, lost_response.TOXIC, slow_markers.TOXIC, move_coordinator.TOXIC, move_leader.TOXIC),
    client_toxics=(client_killed.TOXIC, client_paused.TOXIC),
    crowd=Crowd(),
    priority=2,
)
