"""Brokers taken back: a group relays records while every node is upgraded, and then taken back (``--upgrade``)."""

from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.relay import Relay
from toxics.process import upgrade_and_back

SCENARIO = Scenario(
    name="brokers-taken-back",
    title="Each input has one visible output while every node is upgraded, and taken back again",
    workload=Relay(),
    clients=("java",),
    toxics=(upgrade_and_back.TOXIC,),
    seconds=64.0,
    priority=6,
)
