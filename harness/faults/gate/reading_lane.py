"""Where clients that follow brokers' Metadata read: the observer's lane, also where its addresses are not advertised.

Brokers behind mapped ports name each other by addresses that this machine may not reach. librdkafka and Spark then read
through a gate without rules, which replaces those addresses by its own; to them it speaks plaintext, as a lane's gate.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.base.addresses import Address
from harness.cluster.cluster import Cluster
from harness.cluster.topology import Topology
from harness.faults.gate.gate_process import GateProcess, start_gate_process
from harness.wire.security.security import PLAINTEXT, Security

HOST = "127.0.0.1"


@dataclass(slots=True, kw_only=True)
class ReadingLane:
    """Addresses by node, and how to connect to them; close it after use.

    :param gate_process: There where addresses have to be replaced.
    """

    addresses: Mapping[int, Address]
    security: Security
    gate_process: GateProcess | None = None

    @property
    def bootstrap(self) -> str:
        """As a client's ``bootstrap.servers``."""
        return ",".join(map(str, self.addresses.values()))

    def close(self) -> None:
        """End the gate. May be called twice."""
        process, self.gate_process = self.gate_process, None
        if process is not None:
            process.close()


def open_reading_lane(cluster: Cluster) -> ReadingLane:
    """The observer's lane itself, unless the brokers of a cluster that is not ours advertise other addresses.

    :raises GateFailed: When the gate cannot be started.
    """
    topology = cluster.topology
    direct = ReadingLane(addresses=topology.lanes["observer"], security=topology.secured("observer"))
    if all(at.resolved() == topology.advertised.get(node, at).resolved() for node, at in direct.addresses.items()):
        return direct
    return _through_gate(topology)


def _through_gate(topology: Topology) -> ReadingLane:
    process = start_gate_process()
    try:
        process.secure(topology.secured("observer"))
        addresses = {
            node: process.listen(f"reading-{node}", HOST, address, topology.server_names.get(node, ""))
            for node, address in topology.lanes["observer"].items()
        }
        hosts = [address.host for address in topology.advertised.values()]
        process.keep_on_lane([f"reading-{node}" for node in addresses], addresses, hosts)
    except BaseException:
        process.close()
        raise
    return ReadingLane(addresses=addresses, security=PLAINTEXT, gate_process=process)
