"""A node's settings and hosts file on loopback.

The hosts file is what makes brokers unable to go round a proxy: in each JVM the name ``b<k>`` leads to the proxy of the
link from that very node.
"""

import socket
from collections.abc import Mapping
from pathlib import Path

from harness.base.addresses import LANES, Address
from harness.cluster.nodes import node_properties
from harness.cluster.nodes.node_ports import LANE_PORTS, LINK, NODES, QUORUM
from harness.cluster.nodes.node_properties import Listeners, name
from harness.cluster.process.loopback_addresses import LoopbackBlock
from harness.cluster.topology import CONTROLLER


def of_node(block: LoopbackBlock, node: int, data: Path, extra: Mapping[str, str]) -> Mapping[str, str]:
    """All settings of a node; ``extra`` wins."""
    if node == CONTROLLER:
        return node_properties.of_controller(quorum=QUORUM, data=str(data), extra=extra)
    return node_properties.of_broker(node, listeners(block, node), quorum=QUORUM, data=str(data), extra=extra)


def of_training(block: LoopbackBlock, data: Path) -> Mapping[str, str]:
    """All settings of the one combined node that trains the archive."""
    return node_properties.of_training(listeners(block, 1), quorum=QUORUM, data=str(data))


def listeners(block: LoopbackBlock, node: int) -> Listeners:
    """Where a broker binds, and what it tells: its link's name to other nodes, a lane's proxy to clients."""
    bound = {lane.upper(): block.node(node, port) for lane, port in LANE_PORTS.items()}
    told = {lane.upper(): block.lane(lane, node) for lane in LANES}
    return Listeners(bound={"LINK": block.node(node, LINK), **bound}, told={"LINK": Address(name(node), LINK), **told})


def hosts(block: LoopbackBlock, node: int) -> str:
    """The hosts file of a node's JVM. Java then asks nobody else, so it has the machine's own names too."""
    links = [f"{block.link(node, other).host} {name(other)}" for other in NODES]
    own = sorted({"localhost", socket.gethostname()})
    return "\n".join([*links, *(f"127.0.0.1 {machine}" for machine in own), ""])


def training_hosts(block: LoopbackBlock) -> str:
    """The hosts file of the combined node, which is both broker 1 and the controller."""
    return hosts(block, CONTROLLER) + f"{block.link(1, 1).host} {name(1)}\n"
