"""Loopback addresses for a cluster, claimed without a race.

Looking for free port numbers races with everybody else who does. Linux has sixteen million loopback addresses, so a
cluster takes a block of them (``127.0.<block>.0/24``) and its ports are fixed. A block is ours while we hold its guard
socket, which the kernel closes if we die. Because a killed run's brokers may live longer than its guard, every address
is tried once before the block is taken.
"""

import errno
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations

from harness.base.addresses import LANES, Address, Lane
from harness.base.user_error import ExitCode, UserError
from harness.cluster.nodes.node_addresses import Listeners, listeners_of
from harness.cluster.nodes.node_ports import (
    BYTEMAN,
    FIRST_EXTRA,
    GUARD,
    JOLOKIA,
    LANE_PORTS,
    LINK,
    OBSERVER,
    QUORUM,
    RIVAL,
    TOXIPROXY,
    VICTIM,
)
from harness.cluster.nodes.node_properties import name
from harness.cluster.topology import BROKERS, CONTROLLER, CONTROLLERS, ExtraListener, lane_name, link_name
from harness.cluster.toxiproxy import Proxy

BLOCKS = range(77, 205)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopbackBlock:
    """The addresses of one cluster; ``guard`` holds them.

    :param extra: Listeners of every broker beside the lanes; clients reach them directly.
    """

    number: int
    guard: socket.socket
    brokers: tuple[int, ...] = BROKERS
    extra: tuple[ExtraListener, ...] = ()
    controllers: tuple[int, ...] = (CONTROLLER,)

    @property
    def nodes(self) -> tuple[int, ...]:
        """The brokers and the controllers."""
        return (*self.brokers, *self.controllers)

    @property
    def extra_listeners(self) -> Mapping[str, Mapping[int, Address]]:
        """Where clients reach each broker on each listener beside the lanes."""
        return {
            listener.name: {broker: self.node(broker, port) for broker in self.brokers}
            for port, listener in enumerate(self.extra, FIRST_EXTRA)
        }

    def host(self, last: int) -> str:
        return f"127.0.{self.number}.{last}"

    def toxiproxy(self) -> Address:
        return Address(self.host(1), TOXIPROXY)

    def node(self, node: int, port: int) -> Address:
        return Address(self.host(10 + node), port)

    def voter(self, controller: int) -> Address:
        return Address(name(controller), QUORUM)

    def link(self, source: int, target: int) -> Address:
        """Where the proxy of a link listens; a node's link to itself is the node."""
        port = QUORUM if target in CONTROLLERS else LINK
        return self.node(target, port) if source == target else Address(self.host(100 + 10 * source + target), port)

    def lane(self, lane: Lane, broker: int) -> Address:
        """Where clients of a lane reach a broker: the observer directly, the others through a proxy."""
        shift = {"observer": 10, "victim": 20, "rival": 30}[lane]
        return Address(self.host(shift + broker), LANE_PORTS[lane])

    def listeners(self, broker: int) -> Listeners:
        return listeners_of(self, broker, Address(name(broker), LINK), self.extra)

    def proxies(self) -> list[Proxy]:
        """Every link, and every lane but the observer's."""
        links = [
            Proxy(name=link_name(i, j), listen=self.link(i, j), upstream=self.link(j, j))
            for i, j in permutations(self.nodes, 2)
        ]
        lanes = [
            Proxy(name=lane_name(lane, k), listen=self.lane(lane, k), upstream=self.node(k, LANE_PORTS[lane]))
            for lane in LANES
            if lane != "observer"
            for k in self.brokers
        ]
        return links + lanes

    def all(self) -> Iterator[Address]:
        """Every address that something of ours will listen on."""
        yield self.toxiproxy()
        yield from (proxy.listen for proxy in self.proxies())
        yield from (self.node(k, port) for k in self.brokers for port in (LINK, VICTIM, RIVAL, OBSERVER))
        yield from (address for at in self.extra_listeners.values() for address in at.values())
        yield from (self.node(controller, QUORUM) for controller in self.controllers)
        yield from (self.node(k, port) for k in self.nodes for port in (JOLOKIA, BYTEMAN))


def claim_block(
    brokers: tuple[int, ...] = BROKERS,
    extra: tuple[ExtraListener, ...] = (),
    controllers: tuple[int, ...] = (CONTROLLER,),
) -> LoopbackBlock:
    """The first block that is free; :raises UserError: ADDRESS_IN_USE, when none is."""
    taken = None
    for number in BLOCKS:
        guard = socket.socket()
        try:
            guard.bind((f"127.0.{number}.1", GUARD))
        except OSError as error:
            guard.close()
            taken = taken or _in_use(Address(f"127.0.{number}.1", GUARD), error)
            continue
        block = LoopbackBlock(number=number, guard=guard, brokers=brokers, extra=extra, controllers=controllers)
        if not (busy := next(filter(_is_taken, block.all()), None)):
            return block
        guard.close()
        taken = taken or _in_use(busy, None)
    assert taken is not None
    raise taken


def _is_taken(address: Address) -> bool:
    with socket.socket() as attempt:
        # As brokers and Toxiproxy do it: connections that linger in TIME_WAIT do not count, listeners do.
        attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            attempt.bind((address.host, address.port))
        except OSError:
            return True
    return False


def _in_use(address: Address, error: OSError | None) -> UserError:
    if error is not None and error.errno == errno.EADDRNOTAVAIL:
        remedy = "this system gives only 127.0.0.1 to loopback; the process backend needs all of 127.0.0.0/8"
    else:
        remedy = f"something listens on port {address.port} of every address; end it and run again"
    return UserError(f"{address} cannot be used, nor can its like: {remedy}", exit=ExitCode.ADDRESS_IN_USE)
