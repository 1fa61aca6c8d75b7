"""Rolling restart: every broker in turn, as an upgrade does it, under many interleaved transactions."""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.interleave import Interleave
from toxics.process import rolling_restart

SCENARIO = Scenario(
    name="rolling-restart",
    title="Open transactions survive a restart of every broker, one after the other",
    workload=Interleave(),
    clients=("wire-v2", "librdkafka", "wire-v1"),
    toxics=(rolling_restart.TOXIC,),
    seconds=30.0,
    crowd=Crowd(),
    priority=5,
)
