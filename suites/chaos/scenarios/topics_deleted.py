"""Topics deleted: topics go away under open transactions, while markers are slow and coordinators move."""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.passing_topics import PassingTopics
from toxics.clients import client_killed
from toxics.coordinator import delete_topic, move_coordinator
from toxics.frames import slow_markers

SCENARIO = Scenario(
    name="topics-deleted",
    title="A transaction that loses a topic comes to an end, and is whole wherever else it wrote",
    workload=PassingTopics(),
    clients=("wire-v2", "wire-v1", "librdkafka"),
    toxics=(delete_topic.TOXIC, move_coordinator.TOXIC, slow_markers.TOXIC),
    client_toxics=(client_killed.TOXIC,),
    seconds=25.0,
    crowd=Crowd(),
    priority=5,
)
