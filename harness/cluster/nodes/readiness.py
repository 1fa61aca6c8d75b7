"""When a cluster is ready, and the sentence when it never is.

A TCP connect proves nothing behind a proxy, and a broker takes requests before the others know it. So each broker is
asked, through its own observer lane, until it lists every broker at the right address; then the cluster must hand out
a producer id, which needs the state topic, its leaders, its coordinator and the controller.
"""

from collections.abc import Callable, Iterable

from harness.base import wait
from harness.cluster.nodes import readiness_probe
from harness.cluster.nodes.node import Node
from harness.cluster.nodes.node_addresses import NodeAddresses
from harness.cluster.nodes.startup_error import not_ready
from harness.cluster.topology import CONTROLLERS

# On an idle machine it takes 2 to 3 s; on one that runs much else it can take twenty times that.
READY_SECONDS = 60.0
POLL_SECONDS = 0.02  # each question is a connection, and the JVMs need every processor there is
PROBE_ID = "fencepost-first"
"""The transactional id whose coordinator is asked for a producer id."""


def await_cluster(nodes: Iterable[Node], addresses: NodeAddresses) -> None:
    """Wait until a first transaction is possible.

    :raises UserError: NOT_READY with the log of the node that is missing.
    """
    by_number = {node.number: node for node in nodes}
    expected = {broker: addresses.lane("observer", broker) for broker in addresses.brokers}
    for broker in expected:
        _await(
            lambda broker=broker: readiness_probe.brokers(expected[broker]) == expected,  # type: ignore[misc]
            by_number[broker],
            others=by_number.values(),
        )
    _await(lambda: first_transaction(addresses), by_number[addresses.brokers[0]], others=by_number.values())


def first_transaction(addresses: NodeAddresses) -> bool:
    """True when a producer id is handed out."""
    found = readiness_probe.coordinator(addresses.lane("observer", addresses.brokers[0]), PROBE_ID)
    return found is not None and readiness_probe.transaction_possible(addresses.lane("observer", found), PROBE_ID)


def await_restarted(
    node: Node, nodes: Iterable[Node], addresses: NodeAddresses, *, timeout_seconds: float = READY_SECONDS
) -> None:
    """Wait until the restarted node does its part again and every broker that can answer lists it.

    The node itself is asked first: it lists itself only when the controller has let it in again, while the others may
    still list what it was before the kill.

    :raises UserError: NOT_READY with its log.
    """
    others = [n for n in nodes if n.number not in (node.number, *CONTROLLERS) and n.running() and not n.paused]
    if node.number in CONTROLLERS:
        observers = [addresses.lane("observer", other.number) for other in others]
        _await(lambda: all(map(readiness_probe.quorum_leads, observers)), node, timeout_seconds, others=[node])
        return
    own = addresses.lane("observer", node.number)
    for asked in (node, *others):
        lane = addresses.lane("observer", asked.number)
        _await(
            lambda lane=lane: (readiness_probe.brokers(lane) or {}).get(node.number) == own,  # type: ignore[misc]
            node,
            timeout_seconds,
            others=[node],
        )


def _await(
    condition: Callable[[], bool], node: Node, timeout_seconds: float = READY_SECONDS, *, others: Iterable[Node]
) -> None:
    """Wait until ``condition``, which is about ``node``, is true, or a node that it needs has ended."""
    watched = tuple(others)

    def decided() -> bool:
        return not all(other.running() for other in watched) or condition()

    try:
        wait.until(decided, what=node.name, timeout_seconds=timeout_seconds, interval_seconds=POLL_SECONDS)
    except wait.TimedOut as late:
        raise not_ready(f"{node.name} did not become ready within {timeout_seconds:g} s", node.log) from late
    for other in watched:
        if not other.running():
            raise not_ready(f"{other.name} ended while it was starting", other.log)
