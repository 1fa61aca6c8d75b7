"""Late produce: the client gives a Produce up and aborts, and the Produce arrives after that, in the same epoch.

The hazard of KIP-890. A client of Transactions V1 keeps its epoch, so only verification stands between the late record
and a transaction that nobody will ever end: some writers come back under a new transactional id, as a stateless service
does, and then nobody's next transaction ends it either.
"""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.interleave import Interleave
from toxics.frames import late_produce

SCENARIO = Scenario(
    name="late-produce",
    title="Produce requests of clients that gave up arrive after their transaction was ended",
    workload=Interleave(writers=4, partitions=3, request_ms=1_200, fresh=2),
    clients=("wire-v1",),
    toxics=(late_produce.TOXIC,),
    crowd=Crowd(),
    priority=1,
)
