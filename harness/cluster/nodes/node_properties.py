"""A node's ``server.properties``: the shared ones from ``compose/``, then the node's own, then the user's.

Broker *k* is advertised to the others by the name ``b<k>``, which each backend resolves, for each node, to the proxy of
the link from that very node. So no broker can go round a proxy.
"""

from collections.abc import Iterable, Mapping

from harness.base.addresses import LANES, Address
from harness.base.paths import COMPOSE
from harness.cluster.nodes.node_addresses import Listeners, NodeAddresses
from harness.cluster.topology import CONTROLLERS, ExtraListener


def shared() -> Mapping[str, str]:
    """``compose/broker.properties``."""
    return parse((COMPOSE / "broker.properties").read_text())


def parse(text: str) -> Mapping[str, str]:
    """The settings of a properties text, comments left out."""
    lines = (line.strip() for line in text.splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, _, value in pairs}


def of_node(
    node: int, addresses: NodeAddresses, *, quorum: int, data: str, extra: Mapping[str, str]
) -> Mapping[str, str]:
    """All settings of a node; ``extra`` wins.

    :param quorum: The port at which controllers are reached under their names.
    :param data: Its storage folder.
    """
    if node in CONTROLLERS:
        own = {"process.roles": "controller", "listeners": _controller(node, quorum)}
    else:
        own = {"process.roles": "broker", **_broker(addresses.listeners(node))}
    common = {
        **shared(),
        **_replication(len(addresses.brokers)),
        **_quorum({voter: name(voter) for voter in addresses.controllers}, quorum),
    }
    return {**common, **own, "node.id": str(node), "log.dirs": data, **extra}


def of_training(listeners: Listeners, *, quorum: int, data: str) -> Mapping[str, str]:
    """All settings of the one combined node that trains an archive: it loads the classes of both roles."""
    broker = _broker(listeners)
    both = {
        "process.roles": "broker,controller",
        "listeners": f"{broker['listeners']},{_controller(CONTROLLERS[0], quorum)}",
    }
    return {
        **shared(),
        **_replication(1),
        **_quorum({1: name(CONTROLLERS[0])}, quorum),
        **broker,
        **both,
        "node.id": "1",
        "log.dirs": data,
    }


def name(node: int) -> str:
    """The name by which other nodes know a node."""
    return f"c{node}" if node in CONTROLLERS else f"b{node}"


def render(settings: Mapping[str, str]) -> str:
    """As a properties file; Java reads a backslash as an escape."""
    return "".join(f"{key}={value.replace(chr(92), chr(92) * 2)}\n" for key, value in settings.items())


def _replication(brokers: int) -> Mapping[str, str]:
    """Of internal topics, where there are fewer brokers than the shared settings ask copies of."""
    wanted = shared()
    copies = ("transaction.state.log.replication.factor", "transaction.state.log.min.isr")
    return {key: str(min(int(wanted[key]), brokers)) for key in (*copies, "offsets.topic.replication.factor")}


def _quorum(voters: Mapping[int, str], port: int) -> Mapping[str, str]:
    # Static voters, not controller.quorum.bootstrap.servers: every release from 3.3 to 4.x understands them.
    return {
        "controller.quorum.voters": ",".join(f"{voter}@{host}:{port}" for voter, host in voters.items()),
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": _protocols(()),
    }


def _protocols(extra: Iterable[ExtraListener]) -> str:
    ours = dict.fromkeys(("CONTROLLER", "LINK", *(lane.upper() for lane in LANES)), "PLAINTEXT")
    named = {**ours, **{listener.name: listener.protocol for listener in extra}}
    return ",".join(f"{name}:{protocol}" for name, protocol in named.items())


def _controller(node: int, port: int) -> str:
    # Bound by name: from 3.9 on a controller sends brokers its listener, which must be the name that each of them
    # resolves to its own proxy.
    return f"CONTROLLER://{name(node)}:{port}"


def _broker(listeners: Listeners) -> Mapping[str, str]:
    return {
        "inter.broker.listener.name": "LINK",
        "listeners": _joined(listeners.bound),
        "advertised.listeners": _joined(listeners.advertised),
        "listener.security.protocol.map": _protocols(listeners.extra),
        **{key: value for listener in listeners.extra for key, value in listener.properties.items()},
    }


def _joined(addresses: Mapping[str, Address]) -> str:
    return ",".join(f"{listener}://{address}" for listener, address in addresses.items())
