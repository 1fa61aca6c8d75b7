"""Ids expire: coordinators and leaders forget producers that rest for seconds, and the log is compacted behind them."""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario, ScenarioCluster
from suites.chaos.scenarios.coordinators_reload import COMPACTED
from suites.chaos.workloads.idle import Idle
from toxics.clients import client_killed
from toxics.coordinator import expire_ids, reload_compacted

EXPIRING = {
    "transactional.id.expiration.ms": "3000",
    "transaction.remove.expired.transaction.cleanup.interval.ms": "500",
    # Longer than a client retries a Produce: its repetition would not be known as one any more.
    "producer.id.expiration.ms": "4000",
    "producer.id.expiration.check.interval.ms": "500",
}

SCENARIO = Scenario(
    name="ids-expire",
    title="Producers that brokers have forgotten are refused, begin anew, and leave nothing open",
    workload=Idle(),
    clients=("wire-v2", "wire-v1", "librdkafka"),
    toxics=(expire_ids.TOXIC, reload_compacted.TOXIC),
    client_toxics=(client_killed.TOXIC,),
    seconds=28.0,
    crowd=Crowd(),
    cluster=ScenarioCluster(properties={**COMPACTED, **EXPIRING}),
    priority=6,
)
