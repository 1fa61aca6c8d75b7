"""Transfer over bad links: money moves while lanes and links are slow, narrow, cut one way, reset or black."""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.transfer import Transfer
from toxics.network import bandwidth, blackhole, latency, one_way_cut, reset, slow_close

SCENARIO = Scenario(
    name="transfer-over-bad-links",
    title="The sum of all accounts stays while the network between clients and brokers, and among brokers, is bad",
    workload=Transfer(tellers=4),
    clients=("wire-v2", "librdkafka", "wire-v1"),
    toxics=(
        latency.TOXIC,
        bandwidth.TOXIC,
        blackhole.TOXIC,
        one_way_cut.TOXIC,
        reset.TOXIC,
        slow_close.TOXIC,
    ),
    seconds=25.0,
    crowd=Crowd(),
    priority=3,
)
