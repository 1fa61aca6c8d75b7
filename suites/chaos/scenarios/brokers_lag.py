"""Brokers lag: a disk is slow, and a broker stands still until it is fenced and then goes on."""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.silence import Silence
from toxics.clients import client_killed
from toxics.process import pause_fenced, slow_disk

SCENARIO = Scenario(
    name="brokers-lag",
    title="The timeout ends what it should, and nothing is lost, on brokers whose disk or process lags",
    workload=Silence(),
    clients=("wire-v2", "wire-v1", "librdkafka"),
    toxics=(slow_disk.TOXIC, pause_fenced.TOXIC),
    client_toxics=(client_killed.TOXIC,),
    seconds=32.0,
    crowd=Crowd(),
    priority=5,
)
