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


def of_node(node: int, addresses: NodeAddresses, *, data: str, extra: Mapping[str, str]) -> Mapping[str, str]:
    """All settings of a node, whose storage folder is ``data``; ``extra`` wins."""
    if node in CONTROLLERS:
        own = {"process.roles": "controller", "listeners": _controller(addresses.voter(node))}
    else:
        own = {"process.roles": "broker", **_broker(addresses.listeners(node))}
    common = {
        **shared(),
        **_replication(len(addresses.brokers)),
        **_quorum({voter: addresses.voter(voter) for voter in addresses.controllers}),
    }
    return {**common, **own, "node.id": str(node), "log.dirs": data, **extra}


def of_training(listeners: Listeners, *, quorum: int, data: str) -> Mapping[str, str]:
    """All settings of the one combined node that trains an archive: it loads the classes of both roles.

    :param quorum: The port at which its controller listens.
    """
    broker, controller = _broker(listeners), Address(name(CONTROLLERS[0]), quorum)
    both = {
        "process.roles": "broker,controller",
        "listeners": f"{broker['listeners']},{_controller(controller)}",
    }
    return {
        **shared(),
        **_replication(1),
        **_quorum({1: controller}),
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


def _quorum(voters: Mapping[int, Address]) -> Mapping[str, str]:
    # Static voters, not controller.quorum.bootstrap.servers: every release from 3.3 to 4.x understands them.
    return {
        "controller.quorum.voters": ",".join(f"{voter}@{address}" for voter, address in voters.items()),
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": _protocols(()),
    }


def _protocols(extra: Iterable[ExtraListener]) -> str:
    ours = dict.fromkeys(("CONTROLLER", "LINK", *(lane.upper() for lane in LANES)), "PLAINTEXT")
    named = {**ours, **{listener.name: listener.protocol for listener in extra}}
    return ",".join(f"{name}:{protocol}" for name, protocol in named.items())


def _controller(address: Address) -> str:
    # Bound by name: from 3.9 on a controller sends brokers its listener, which must be the name that each of them
    # resolves to its own proxy.
    return f"CONTROLLER://{address}"


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
