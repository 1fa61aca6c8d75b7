"""A node's ``server.properties`` and hosts file: ours from ``compose/``, the node's own place, then the user's.

The hosts file is what makes brokers unable to go round a proxy: broker *k* is advertised to the others by the name
``b<k>``, and in each JVM that name leads to the proxy of the link from that very node.
"""

import socket
from collections.abc import Mapping
from pathlib import Path

from harness.cluster.process.addresses import LANE_PORTS, LINK, NODES, QUORUM, Block
from harness.cluster.topology import CONTROLLER, LANES

COMPOSE = Path(__file__).parents[3] / "compose"


def shared() -> Mapping[str, str]:
    """``compose/broker.properties``."""
    return parse((COMPOSE / "broker.properties").read_text())


def parse(text: str) -> Mapping[str, str]:
    """The settings of a properties text, comments left out."""
    lines = (line.strip() for line in text.splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, _, value in pairs}


def of_node(block: Block, node: int, data: Path, extra: Mapping[str, str]) -> Mapping[str, str]:
    """All settings of a node; ``extra`` wins."""
    place = _controller() if node == CONTROLLER else _broker(block, node)
    return {**shared(), **_quorum(CONTROLLER), **place, "node.id": str(node), "log.dirs": str(data), **extra}


def of_training(block: Block, data: Path) -> Mapping[str, str]:
    """All settings of the one combined node that trains the archive: it loads the classes of both roles."""
    one = {"transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1"}
    broker = _broker(block, 1)
    both = {
        "process.roles": "broker,controller",
        "listeners": f"{broker['listeners']},{_controller()['listeners']}",
        "controller.quorum.voters": f"1@{name(CONTROLLER)}:{QUORUM}",
    }
    return {**shared(), **_quorum(1), **broker, **both, **one, "node.id": "1", "log.dirs": str(data)}


def name(node: int) -> str:
    """The name by which other nodes know a node."""
    return f"c{node}" if node == CONTROLLER else f"b{node}"


def hosts(block: Block, node: int) -> str:
    """The hosts file of a node's JVM. Java then asks nobody else, so it has the machine's own names too."""
    links = [f"{block.link(node, other).host} {name(other)}" for other in NODES]
    own = sorted({"localhost", socket.gethostname()})
    return "\n".join([*links, *(f"127.0.0.1 {machine}" for machine in own), ""])


def training_hosts(block: Block) -> str:
    """The hosts file of the combined node, which is both broker 1 and the controller."""
    return hosts(block, CONTROLLER) + f"{block.link(1, 1).host} {name(1)}\n"


def render(settings: Mapping[str, str]) -> str:
    """As a properties file; Java reads a backslash as an escape."""
    return "".join(f"{key}={value.replace(chr(92), chr(92) * 2)}\n" for key, value in settings.items())


def _quorum(voter: int) -> Mapping[str, str]:
    # Static voters, not controller.quorum.bootstrap.servers: every release from 3.3 to 4.x understands them.
    return {
        "controller.quorum.voters": f"{voter}@{name(CONTROLLER)}:{QUORUM}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": ",".join(
            f"{listener}:PLAINTEXT" for listener in ("CONTROLLER", "LINK", *(lane.upper() for lane in LANES))
        ),
    }


def _controller() -> Mapping[str, str]:
    # Bound by name: from 3.9 on a controller tells its listener to the brokers, and it must be the name that leads
    # each of them to its own proxy.
    return {"process.roles": "controller", "listeners": f"CONTROLLER://{name(CONTROLLER)}:{QUORUM}"}


def _broker(block: Block, node: int) -> Mapping[str, str]:
    bound = [f"{lane.upper()}://{block.node(node, port)}" for lane, port in LANE_PORTS.items()]
    told = [f"{lane.upper()}://{block.lane(lane, node)}" for lane in LANES]
    return {
        "process.roles": "broker",
        "inter.broker.listener.name": "LINK",
        "listeners": ",".join([f"LINK://{block.node(node, LINK)}", *bound]),
        "advertised.listeners": ",".join([f"LINK://{name(node)}:{LINK}", *told]),
    }
