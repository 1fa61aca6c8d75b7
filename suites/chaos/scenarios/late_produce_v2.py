"""Late produce under Transactions V2: the same hazard, and the epoch's bump at each end is the defence.

Answers are lost and markers slow at times, so that an end that is asked for again is late as well. Clients of
Transactions V1 that ask for the same end twice have no defence against a late EndTxn, in any release.
"""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.interleave import Interleave
from toxics.frames import late_end_txn, late_produce, lost_response, slow_markers

SCENARIO = Scenario(
    name="late-produce-v2",
    title="Produce and EndTxn requests of an epoch that is over arrive late",
    workload=Interleave(writers=4, partitions=3, request_ms=1_200),
    clients=("wire-v2",),
    toxics=(late_produce.TOXIC, late_end_txn.TOXIC, lost_response.TOXIC, slow_markers.TOXIC),
    protocol="v2",
    crowd=Crowd(),
    priority=2,
)
