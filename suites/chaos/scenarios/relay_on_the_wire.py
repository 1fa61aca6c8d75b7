"""Relay on the wire: the same group with raw wire clients, with Transactions V2 where they are offered."""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.relay import Relay
from toxics.clients import client_killed, client_paused
from toxics.coordinator import move_leader
from toxics.frames import lost_response, repeat_request
from toxics.network import latency

SCENARIO = Scenario(
    name="relay-on-the-wire",
    title="Offsets and records of one transaction stand or fall together while requests are repeated and leaders move",
    workload=Relay(),
    clients=("wire-v2", "wire-v1"),
    toxics=(latency.TOXIC, repeat_request.TOXIC, lost_response.TOXIC, move_leader.TOXIC),
    client_toxics=(client_killed.TOXIC, client_paused.TOXIC),
    crowd=Crowd(),
    priority=3,
)
