"""Transfer through crashes: money moves while brokers are killed, paused and restarted, one at a time."""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.transfer import Transfer
from toxics.clients import client_killed, client_paused
from toxics.process import kill, pause, restart

SCENARIO = Scenario(
    name="transfer-through-crashes",
    title="What was acknowledged is there, and only that, after brokers were killed, paused and restarted",
    workload=Transfer(tellers=4),
    clients=("wire-v2", "librdkafka", "wire-v1"),
    toxics=(kill.TOXIC, pause.TOXIC, restart.TOXIC),
    client_toxics=(client_killed.TOXIC, client_paused.TOXIC),
    seconds=30.0,
    crowd=Crowd(),
    priority=3,
)
