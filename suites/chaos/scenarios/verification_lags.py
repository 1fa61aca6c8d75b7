"""Verification lags: clients give a Produce up and abort while its leader waits for the coordinator's word about it.

The race that KIP-890's verification guard is for. A client of Transactions V1 keeps its epoch, so that a record which
is appended because it was in order a moment ago begins a transaction that nobody will ever end. The leader moves at
times, because the guard is known to the leader alone.
"""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.interleave import Interleave
from toxics.coordinator import move_leader
from toxics.frames import late_verification

GIVES_UP_MS = 1_200
"""Of the crowd too, so that whoever is held gives up before the answer comes."""
SCENARIO = Scenario(
    name="verification-lags",
    title="Transactions are aborted between a leader's question about a write and the append",
    workload=Interleave(writers=4, partitions=3, request_ms=GIVES_UP_MS, fresh=2),
    clients=("wire-v1",),
    toxics=(late_verification.TOXIC, move_leader.TOXIC),
    crowd=Crowd(request_ms=GIVES_UP_MS),
    priority=1,
)
