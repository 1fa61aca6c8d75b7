"""Networks of a cluster, in a range that no other network of the engine or of this machine overlaps.

The engine refuses a range that overlaps, so a range is claimed by creating a network in it: two runs that start
together cannot both get it.
"""

from functools import partial
from ipaddress import IPv4Network, ip_network
from socket import AF_INET

import psutil

from harness.base.user_error import ExitCode, UserError
from harness.cluster.docker.container_addresses import BLOCKS, EDGE, GATEWAY_HOST, ContainerBlock
from harness.cluster.docker.engine import APIError, in_parallel
from harness.cluster.docker.ownership import OwnedResources
from harness.cluster.topology import BROKERS, CONTROLLER, ExtraListener


def claim_network(
    run: OwnedResources,
    brokers: tuple[int, ...] = BROKERS,
    extra: tuple[ExtraListener, ...] = (),
    controllers: tuple[int, ...] = (CONTROLLER,),
) -> ContainerBlock:
    """A block of addresses, held by the edge's network.

    :raises UserError: ADDRESS_IN_USE, when every block is taken.
    """
    taken = _taken(run)
    for network in BLOCKS:
        if any(network.overlaps(other) for other in taken):
            continue
        block = ContainerBlock(network=network, brokers=brokers, extra=extra, controllers=controllers)
        try:
            in_parallel(partial(_create, run, block, EDGE))
        except APIError as error:
            if "overlap" not in str(error):
                raise
            continue
        return block
    first, last = BLOCKS[0].network_address, BLOCKS[-1].broadcast_address
    raise UserError(
        f"every address from {first} to {last} is in a network of the engine; remove some: docker network prune",
        exit=ExitCode.ADDRESS_IN_USE,
    )


def create_for_nodes(run: OwnedResources, block: ContainerBlock) -> None:
    in_parallel(*(partial(_create, run, block, node) for node in block.nodes))


def network_name(run: OwnedResources, node: int) -> str:
    return f"{run.name}-edge" if node == EDGE else f"{run.name}-{node}"


def _create(run: OwnedResources, block: ContainerBlock, node: int) -> None:
    subnet = block.network_of(node)
    run.network(
        network_name(run, node),
        driver="bridge",
        ipam={"Driver": "default", "Config": [{"Subnet": str(subnet), "Gateway": str(subnet[GATEWAY_HOST])}]},
        internal=node != EDGE,
        check_duplicate=True,
    )


def _taken(run: OwnedResources) -> list[IPv4Network]:
    configs = (one for network in run.engine.sdk.api.networks() for one in network["IPAM"]["Config"] or ())
    ranges = (ip_network(config["Subnet"]) for config in configs if config.get("Subnet"))
    return [*(network for network in ranges if isinstance(network, IPv4Network)), *_networks_of_this_machine()]


def _networks_of_this_machine() -> list[IPv4Network]:
    """Networks of this machine's interfaces: another engine's, or a bridge that an engine without room left behind."""
    addresses = (one for several in psutil.net_if_addrs().values() for one in several if one.family == AF_INET)
    return [IPv4Network(f"{one.address}/{one.netmask}", strict=False) for one in addresses if one.netmask]
