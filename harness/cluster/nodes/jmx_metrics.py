"""JMX metrics of a node over HTTP, by Jolokia, which needs no JVM on our side."""

import http.client
import json
from typing import Any

from harness.base import wait
from harness.base.addresses import Address
from harness.cluster.nodes import java_agents
from harness.cluster.nodes.node import Node
from harness.cluster.nodes.node_addresses import NodeAddresses
from harness.cluster.nodes.node_ports import JOLOKIA

ANSWER_SECONDS = 10.0


def read_metric(node: Node, addresses: NodeAddresses, mbean: str, attribute: str) -> float:
    """The attribute's value now; Jolokia is loaded into the node when it is asked for the first time.

    :raises LookupError: When the node has no such metric, or it is not a number.
    """
    address = addresses.node(node.number, JOLOKIA)
    options = f"host={address.host},port={address.port},discoveryEnabled=false"
    node.load_agent(java_agents.jar_of(java_agents.JOLOKIA), options)
    question = {"type": "read", "mbean": mbean, "attribute": attribute}
    # Jolokia opens its port in a thread of its own, after the JVM has answered that the agent is loaded.
    answer = wait.until(
        lambda: _asked(address, question), what=f"Jolokia in {node.name}", timeout_seconds=ANSWER_SECONDS
    )
    value = answer.get("value")
    if isinstance(value, int | float):
        return float(value)
    raise LookupError(f"{node.name} has no number {mbean} {attribute}: {answer.get('error', value)}")


def _asked(address: Address, question: dict[str, str]) -> dict[str, Any] | None:
    connection = http.client.HTTPConnection(address.host, address.port, timeout=ANSWER_SECONDS)
    try:
        connection.request("POST", "/jolokia/", json.dumps(question), {"Content-Type": "application/json"})
        answer: dict[str, Any] = json.load(connection.getresponse())
    except ConnectionRefusedError:
        return None
    finally:
        connection.close()
    return answer
