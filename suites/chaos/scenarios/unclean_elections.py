"""Unclean elections: partitions lose their logs under open transactions, markers are slow, coordinators move."""

from harness.chaos.plan.crowd import Crowd
from harness.chaos.plan.scenario import Scenario
from suites.chaos.workloads.passing_topics import PassingTopics
from toxics.clients import client_killed
from toxics.coordinator import move_coordinator
from toxics.frames import slow_markers
from toxics.process import unclean_election

SCENARIO = Scenario(
    name="unclean-elections",
    title="A transaction that loses a partition's log comes to an end, and is whole wherever else it wrote",
    workload=PassingTopics(),
    clients=("wire-v2", "wire-v1", "librdkafka"),
    toxics=(unclean_election.TOXIC, move_coordinator.TOXIC, slow_markers.TOXIC),
    client_toxics=(client_killed.TOXIC,),
    seconds=32.0,
    crowd=Crowd(together=(0,)),  # more would keep the tellers waiting, whose open transactions lose something
    priority=5,
)
