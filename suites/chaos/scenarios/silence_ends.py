"""Silence ends: producers stop in mid-transaction, while markers and verification between brokers are slow."""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.silence import Silence
from toxics.clients import client_killed
from toxics.coordinator import move_coordinator
from toxics.frames import slow_markers, slow_verification

SCENARIO = Scenario(
    name="silence-ends",
    title="The timeout ends what its producer has left, though markers are slow and the coordinator moves",
    workload=Silence(),
    clients=("wire-v2", "wire-v1", "librdkafka"),
    toxics=(slow_markers.TOXIC, slow_verification.TOXIC, move_coordinator.TOXIC),
    client_toxics=(client_killed.TOXIC,),
    crowd=Crowd(),
    priority=2,
)
