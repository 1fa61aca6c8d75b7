"""A metadata quorum of three: its addresses, its links, and what every node is told of its voters."""

from harness.cluster.nodes import node_ports
from harness.cluster.nodes.node import title
from harness.cluster.nodes.node_properties import of_node
from harness.cluster.process import loopback_addresses
from harness.cluster.process.hosts_file import hosts_file
from harness.cluster.process.loopback_addresses import LoopbackBlock
from harness.cluster.topology import BROKERS, CONTROLLERS, MOST_BROKERS, brokers_of, owned_topology


def block_of(brokers: int = 3) -> LoopbackBlock:
    block = loopback_addresses.claim_block(brokers_of(brokers), controllers=CONTROLLERS)
    block.guard.close()
    return block


def test_every_node_has_addresses_of_its_own_however_many_brokers_there_are() -> None:
    for brokers in (1, 3, MOST_BROKERS):
        addresses = list(block_of(brokers).all())
        assert len(set(addresses)) == len(addresses)
        assert set(CONTROLLERS).isdisjoint(brokers_of(brokers))


def test_controllers_reach_each_other_and_are_reached_through_proxies() -> None:
    block = block_of()
    topology = owned_topology(block.lane, block.brokers, controllers=block.controllers)
    assert (topology.controller, topology.controllers, topology.brokers) == (4, CONTROLLERS, BROKERS)
    assert {(11, 4), (4, 12), (2, 11), (12, 3)} <= set(topology.links)
    assert {proxy.name for proxy in block.proxies()} >= set(topology.links.values())
    assert f"{block.link(1, 12).host} c12" in hosts_file(block, 1).splitlines()
    assert block.link(1, 12).port == node_ports.QUORUM


def test_every_node_is_told_all_voters() -> None:
    block = block_of()
    own, of_broker = (of_node(node, block, data="/data", extra={}) for node in (11, 1))
    voters = [f"{node}@c{node}:{node_ports.QUORUM}" for node in CONTROLLERS]
    assert own["controller.quorum.voters"].split(",") == voters
    assert of_broker["controller.quorum.voters"] == own["controller.quorum.voters"]
    assert (own["process.roles"], own["listeners"]) == ("controller", f"CONTROLLER://c11:{node_ports.QUORUM}")
    assert of_broker["process.roles"] == "broker"
    assert title(12) == "controller-12"
