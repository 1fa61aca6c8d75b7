"""Clocks jump: what one broker takes for the time of day is off, and coordinators move, so that another clock counts.

Apart from the other faults of a broker that lags: coordinators stamp the records by which states are put in order with
faults by that clock (:mod:`harness.chaos.observe.situation_evidence`).
"""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.silence import Silence
from toxics.clients import client_killed
from toxics.coordinator import move_coordinator
from toxics.process import clock_jump

SCENARIO = Scenario(
    name="clocks-jump",
    title="The timeout ends what it should, and nothing is lost, on brokers whose clock is off",
    workload=Silence(),
    clients=("wire-v2", "wire-v1", "librdkafka"),
    toxics=(clock_jump.TOXIC, move_coordinator.TOXIC),
    client_toxics=(client_killed.TOXIC,),
    seconds=32.0,
    crowd=Crowd(),
    priority=5,
)
