"""Requests repeat: each may arrive twice, not at all, or lose its response; all must be done once.

Markers are slow at times, so that an end is asked for again while they are under way.
"""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.transfer import Transfer
from toxics.clients import client_killed
from toxics.frames import lost_request, lost_response, repeat_request, slow_markers

SCENARIO = Scenario(
    name="requests-repeat",
    title="Requests that arrive twice are done once, and lost answers leave nothing half done",
    workload=Transfer(tellers=4),
    clients=("wire-v1", "wire-v2", "librdkafka"),
    toxics=(repeat_request.TOXIC, lost_response.TOXIC, lost_request.TOXIC, slow_markers.TOXIC),
    client_toxics=(client_killed.TOXIC,),
    crowd=Crowd(),
    priority=2,
)
