"""A node's ``server.properties``: ours from ``compose/``, the node's own place, then the user's.

Broker *k* is advertised to the others by the name ``b<k>``; that name leads each of them to the proxy of the link from
that very node, which is how no broker can go round a proxy. How a name is made to lead there is the backend's affair.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.base.addresses import LANES, Address
from harness.cluster.topology import CONTROLLER

COMPOSE = Path(__file__).parents[3] / "compose"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listeners:
    """Where a broker binds, and what it tells others, by listener's name (``LINK``, ``VICTIM``, …)."""

    bound: Mapping[str, Address]
    told: Mapping[str, Address]


def shared() -> Mapping[str, str]:
    """``compose/broker.properties``."""
    return parse((COMPOSE / "broker.properties").read_text())


def parse(text: str) -> Mapping[str, str]:
    """The settings of a properties text, comments left out."""
    lines = (line.strip() for line in text.splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, _, value in pairs}


def of_broker(
    node: int, listeners: Listeners, *, quorum: int, data: str, extra: Mapping[str, str]
) -> Mapping[str, str]:
    """All settings of a broker; ``extra`` wins.

    :param quorum: The port by which the controller is reached under its name.
    """
    place = {"process.roles": "broker", **_broker(listeners)}
    return {**shared(), **_quorum(CONTROLLER, quorum), **place, "node.id": str(node), "log.dirs": data, **extra}


def of_controller(*, quorum: int, data: str, extra: Mapping[str, str]) -> Mapping[str, str]:
    """All settings of the controller; ``extra`` wins."""
    place = {"process.roles": "controller", "listeners": _controller(quorum)}
    return {**shared(), **_quorum(CONTROLLER, quorum), **place, "node.id": str(CONTROLLER), "log.dirs": data, **extra}


def of_training(listeners: Listeners, *, quorum: int, data: str) -> Mapping[str, str]:
    """All settings of the one combined node that trains an archive: it loads the classes of both roles."""
    one = {"transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1"}
    broker = _broker(listeners)
    both = {"process.roles": "broker,controller", "listeners": f"{broker['listeners']},{_controller(quorum)}"}
    return {**shared(), **_quorum(1, quorum), **broker, **both, **one, "node.id": "1", "log.dirs": data}


def name(node: int) -> str:
    """The name by which other nodes know a node."""
    return f"c{node}" if node == CONTROLLER else f"b{node}"


def render(settings: Mapping[str, str]) -> str:
    """As a properties file; Java reads a backslash as an escape."""
    return "".join(f"{key}={value.replace(chr(92), chr(92) * 2)}\n" for key, value in settings.items())


def _quorum(voter: int, port: int) -> Mapping[str, str]:
    # Static voters, not controller.quorum.bootstrap.servers: every release from 3.3 to 4.x understands them.
    return {
        "controller.quorum.voters": f"{voter}@{name(CONTROLLER)}:{port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": ",".join(
            f"{listener}:PLAINTEXT" for listener in ("CONTROLLER", "LINK", *(lane.upper() for lane in LANES))
        ),
    }


def _controller(port: int) -> str:
    # Bound by name: from 3.9 on a controller tells its listener to the brokers, and it must be the name that leads
    # each of them to its own proxy.
    return f"CONTROLLER://{name(CONTROLLER)}:{port}"


def _broker(listeners: Listeners) -> Mapping[str, str]:
    return {
        "inter.broker.listener.name": "LINK",
        "listeners": _joined(listeners.bound),
        "advertised.listeners": _joined(listeners.told),
    }


def _joined(addresses: Mapping[str, Address]) -> str:
    return ",".join(f"{listener}://{address}" for listener, address in addresses.items())
