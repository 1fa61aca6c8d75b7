"""Brokers stopped in good order: the powers that it takes, and what is done when a broker does not end."""

from typing import Protocol

from harness.base import wait
from harness.cluster.cluster import Kill, Stop
from harness.faults.fault_target import FaultTarget, Powerless


class Restartable(Stop, Kill, Protocol):
    """A cluster whose brokers can be stopped in good order, killed, and started again."""


def restartable(fault_target: FaultTarget) -> Restartable:
    """The site's cluster; :raises Powerless: when its brokers are not ours to stop."""
    cluster = fault_target.cluster
    if not (isinstance(cluster, Stop) and isinstance(cluster, Kill)):
        raise Powerless(f"the {cluster.backend} backend cannot stop a broker")
    return cluster


def stop(cluster: Restartable, broker: int) -> str:
    """Stop it, or kill it when it does not end in good order; the answer says which."""
    try:
        cluster.stop(broker)
    except wait.NotInTime as late:
        cluster.kill(broker)
        return f"killed, because {late}"
    return "stopped in good order"
