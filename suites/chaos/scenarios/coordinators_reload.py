"""Coordinators reload: their log is compacted within seconds, and new ones load what is left, while markers are slow.

``__transaction_state`` rolls by time here (``log.roll.ms``): since 4.0 no segment may be smaller than 1 MiB (KIP-1030).
"""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario, ScenarioCluster
from suites.chaos.workloads.interleave import Interleave
from toxics.clients import client_killed
from toxics.coordinator import reload_compacted
from toxics.frames import slow_markers

COMPACTED = {"log.roll.ms": "3000", "log.cleaner.backoff.ms": "1000", "log.cleaner.min.cleanable.ratio": "0.01"}
"""Segments roll after 3 s, and the cleaner looks for something to clean once a second."""

SCENARIO = Scenario(
    name="coordinators-reload",
    title="A coordinator knows all transactions after loading a log that was compacted under it",
    workload=Interleave(),
    clients=("wire-v2", "wire-v1", "librdkafka"),
    toxics=(reload_compacted.TOXIC, slow_markers.TOXIC),
    client_toxics=(client_killed.TOXIC,),
    seconds=25.0,
    crowd=Crowd(),
    cluster=ScenarioCluster(properties=COMPACTED),
    priority=6,
)
