"""Replicas move: partitions of data and of coordinators get a new leader that has copied all of them from nothing."""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.interleave import Interleave
from toxics.clients import client_killed
from toxics.coordinator import move_replicas
from toxics.network import latency

SCENARIO = Scenario(
    name="replicas-move",
    title="Leaders that have rebuilt producers and transactions from copied records serve as their predecessors did",
    workload=Interleave(),
    clients=("wire-v2", "wire-v1", "librdkafka"),
    toxics=(move_replicas.TOXIC, latency.TOXIC),
    client_toxics=(client_killed.TOXIC,),
    seconds=25.0,
    crowd=Crowd(),
    priority=5,
)
