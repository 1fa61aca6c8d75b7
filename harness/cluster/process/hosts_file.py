"""The hosts file of a node's JVM (``jdk.net.hosts.file``), by which no broker can go round a proxy.

In each JVM the name ``b<k>`` is the address of the proxy of the link from that very node.
"""

import socket

from harness.cluster.nodes.node_properties import name
from harness.cluster.process.loopback_addresses import LoopbackBlock
from harness.cluster.topology import CONTROLLER


def hosts_file(block: LoopbackBlock, node: int) -> str:
    """The text for a node. Java then asks no other resolver, so it has the machine's own names too."""
    links = [f"{block.link(node, other).host} {name(other)}" for other in block.nodes]
    own = sorted({"localhost", socket.gethostname()})
    return "\n".join([*links, *(f"127.0.0.1 {machine}" for machine in own), ""])


def training_hosts_file(block: LoopbackBlock) -> str:
    """The text for the combined node of the training run, which is both broker 1 and the controller."""
    return hosts_file(block, CONTROLLER) + f"{block.link(1, 1).host} {name(1)}\n"
