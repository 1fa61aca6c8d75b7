"""Brokers upgraded: money moves while every node gets the target's release, and the levels follow (``--upgrade``)."""

from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.transfer import Transfer
from toxics.process import rolling_upgrade

SCENARIO = Scenario(
    name="brokers-upgraded",
    title="No money is lost while brokers are upgraded one by one and transaction.version moves under clients",
    workload=Transfer(tellers=4, request_ms=10_000),
    clients=("wire-v1", "java", "librdkafka"),
    toxics=(rolling_upgrade.TOXIC,),
    seconds=64.0,
    priority=6,
)
