"""Brokers' addresses in answers, replaced by those of a lane, so that a client that follows them stays on its lane.

Brokers name each other in answers to Metadata, FindCoordinator and DescribeCluster; with an error also in those to
Produce (v10) and Fetch (v16), as tagged ``NodeEndpoints`` (KIP-951), which are decoded only where an advertised host
stands in the bytes. Every other answer passes as it came.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from harness.base.addresses import Address
from harness.base.kafka_error import KafkaError
from harness.wire.api_names import key_of
from harness.wire.codec.response_fields import ResponseFields
from harness.wire.frame_codec import RequestHeader, changed, read_response, write_response

FIRST_WITH_ENDPOINTS: Mapping[str, int] = {"Produce": 10, "Fetch": 16}
"""The first version whose answer may name nodes (KIP-951)."""
CONTROLLERS = 2
"""``EndpointType`` of a DescribeCluster answer that lists controllers (KIP-919); no client of a lane goes there."""


@dataclass(slots=True, kw_only=True)
class LaneAddresses:
    """One lane: where each node is reached on it.

    :param hosts: Hosts that brokers are known to advertise; more are learnt from the answers.
    :param notes: What was changed beyond addresses, a sentence each, once.
    """

    addresses: Mapping[int, Address]
    hosts: set[str] = field(default_factory=set)
    notes: dict[str, None] = field(default_factory=dict)

    def concerns(self, key: int, version: int) -> bool:
        """Whether an answer to this API at this version may name brokers."""
        return key in _ALWAYS or version >= _FROM_VERSION.get(key, 1 << 15)

    def replaced(self, header: RequestHeader, raw: bytes) -> bytes:
        """The answer (``raw`` with its length) for clients of the lane; the same bytes where no broker is named.

        :raises WireError: When the answer cannot be decoded.
        """
        if header.key in _FROM_VERSION and not any(host.encode() in raw for host in self.hosts if host):
            return raw
        body = read_response(header, raw[4:])
        rewritten = REWRITES[header.api](self, body)
        if rewritten is body:
            return raw
        frame = write_response(header, rewritten)
        return len(frame).to_bytes(4, "big") + frame

    def nodes(self, parts: Iterable[ResponseFields], id_field: str = "node_id") -> tuple[object, ...]:
        """The parts with the lane's addresses; a node that has none is left out, which is noted."""
        return tuple(
            changed(part.entity, host=address.host, port=address.port)
            for part in parts
            if (address := self.of(part, id_field)) is not None
        )

    def of(self, part: ResponseFields, id_field: str = "node_id") -> Address | None:
        """The lane's address of the node that a part of an answer names."""
        node = part.number(id_field)
        self.hosts.add(part.text("host"))
        if node not in self.addresses:
            self.notes[f"broker {node} has no lane, and was hidden from clients that follow Metadata"] = None
        return self.addresses.get(node)


Rewrite: TypeAlias = Callable[[LaneAddresses, object], object]


def _metadata(lane: LaneAddresses, body: object) -> object:
    return changed(body, brokers=lane.nodes(ResponseFields(body).parts("brokers")))


def _described(lane: LaneAddresses, body: object) -> object:
    fields = ResponseFields(body)
    if fields.error() or fields.number("endpoint_type") == CONTROLLERS:
        return body
    return changed(body, brokers=lane.nodes(fields.parts("brokers"), "broker_id"))


def _coordinators(lane: LaneAddresses, body: object) -> object:
    """One coordinator, or from v4 on one for each key."""
    fields = ResponseFields(body)
    if not fields.has("coordinators"):
        return _coordinator(lane, fields)
    return changed(body, coordinators=tuple(_coordinator(lane, part) for part in fields.parts("coordinators")))


def _coordinator(lane: LaneAddresses, part: ResponseFields) -> object:
    """One that has no lane is no coordinator that a client of the lane could ask."""
    if part.error():
        return part.entity
    address = lane.of(part)
    if address is None:
        return changed(part.entity, error_code=KafkaError.COORDINATOR_NOT_AVAILABLE.value, node_id=-1, host="", port=-1)
    return changed(part.entity, host=address.host, port=address.port)


def _endpoints(lane: LaneAddresses, body: object) -> object:
    parts = ResponseFields(body).parts("node_endpoints")
    return changed(body, node_endpoints=lane.nodes(parts)) if parts else body


REWRITES: Mapping[str, Rewrite] = {
    "Metadata": _metadata,
    "FindCoordinator": _coordinators,
    "DescribeCluster": _described,
    **dict.fromkeys(FIRST_WITH_ENDPOINTS, _endpoints),
}
_FROM_VERSION: Mapping[int, int] = {key_of(api): version for api, version in FIRST_WITH_ENDPOINTS.items()}
_ALWAYS = frozenset(key_of(api) for api in REWRITES) - frozenset(_FROM_VERSION)
