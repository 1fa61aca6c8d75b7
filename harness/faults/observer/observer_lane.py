"""A client of a toxic's own on the lane that carries no toxic, for what leaders and coordinators tell."""

from collections.abc import Iterator
from contextlib import contextmanager

from harness.faults.fault_target import FaultTarget
from harness.kafka.leader_client import LeaderClient


@contextmanager
def on_observer_lane(fault_target: FaultTarget) -> Iterator[LeaderClient]:
    """Opened at its first request, closed at the end of the block."""
    topology = fault_target.cluster.topology
    leader_client = LeaderClient.over(
        topology.lanes["observer"], fault_target.clock, security=topology.secured("observer")
    )
    try:
        yield leader_client
    finally:
        leader_client.close()
