"""Relay and rebalances: a group of consume-transform-produce members, while nodes are killed and answers are lost."""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.relay import Relay
from toxics.clients import client_killed, client_paused
from toxics.frames import lost_response
from toxics.network import reset
from toxics.process import pause

SCENARIO = Scenario(
    name="relay-rebalances",
    title="Each input has one visible output, and the offsets of the group say which, whatever happens to members",
    workload=Relay(),
    clients=("librdkafka",),
    toxics=(pause.TOXIC, reset.TOXIC, lost_response.TOXIC),
    client_toxics=(client_killed.TOXIC, client_paused.TOXIC),
    crowd=Crowd(),
    priority=2,
)
