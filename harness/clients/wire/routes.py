"""Who leads a partition, who coordinates an id: asked once, remembered until an answer shows that it has changed."""

from dataclasses import dataclass, field
from typing import TypeVar

from harness.clients.wire.connections import Connections
from harness.clients.wire.deadline import Deadline
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.requests.cluster.metadata import Metadata, TopicMetadata
from harness.wire.requests.groups.find_coordinator import GROUP, TRANSACTION, FindCoordinator
from harness.wire.wire_errors import WireError

R = TypeVar("R", bound=ApiResult)
ASKED_OF_LEADERS = frozenset({"Produce", "Fetch", "ListOffsets"})
PATIENCE = 1.0
"""Seconds that one broker is given to say who is where; then the next is asked."""


@dataclass(slots=True)
class Routes:
    """What this actor believes about places."""

    channel: Connections
    _topics: dict[str, TopicMetadata] = field(default_factory=dict)
    _coordinators: dict[tuple[int, str], int] = field(default_factory=dict)
    _asked: int = 0

    def leader(self, topic: str, partition: int, bound: Deadline) -> int | None:
        """The node that leads the partition; None when nobody says, or none does."""
        place = self.topic(topic, bound)
        known = place["partitions"].get(partition) if place else None
        return self._reachable(known["leader"] if known else -1)

    def topic(self, topic: str, bound: Deadline) -> TopicMetadata | None:
        """The topic's partitions; None when nobody says."""
        if topic not in self._topics:
            found = self._anyone(Metadata(topics=(topic,)), bound)
            if found is not None and topic in found.topics and not found.topics[topic]["error"]:
                self._topics[topic] = found.topics[topic]
        return self._topics.get(topic)

    def coordinator_of_transaction(self, transactional_id: str, bound: Deadline) -> int | None:
        """The node that coordinates the id; None when nobody says, or none does."""
        return self._coordinator(TRANSACTION, transactional_id, bound)

    def coordinator_of_group(self, group: str, bound: Deadline) -> int | None:
        """The node that coordinates the group; None when nobody says, or none does."""
        return self._coordinator(GROUP, group, bound)

    def forget(self, api: str) -> None:
        """Look up again whom to ask: leaders for what is asked of leaders, else coordinators."""
        (self._topics if api in ASKED_OF_LEADERS else self._coordinators).clear()

    def _coordinator(self, kind: int, key: str, bound: Deadline) -> int | None:
        if (kind, key) not in self._coordinators:
            found = self._anyone(FindCoordinator(key=key, key_type=kind), bound)
            if found is None or found.error or self._reachable(found.node) is None:
                return None
            self._coordinators[kind, key] = found.node
        return self._coordinators[kind, key]

    def _reachable(self, node: int) -> int | None:
        return node if node in self.channel.nodes else None

    def _anyone(self, verb: ApiRequest[R], bound: Deadline) -> R | None:
        """The first broker's answer, beginning with the one that answered last."""
        for _ in self.channel.nodes:
            if bound.over:
                return None
            node = self.channel.nodes[self._asked % len(self.channel.nodes)]
            try:
                return self.channel.ask(node, verb, min(PATIENCE, bound.left))
            except WireError:
                self._asked += 1
        return None
