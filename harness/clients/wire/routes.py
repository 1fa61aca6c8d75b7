"""Who leads a partition and who coordinates an id: asked once, remembered until an answer shows that it has changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from harness.clients.wire.connections import Connections
from harness.clients.wire.deadline import Deadline
from harness.kafka.routing import Ask, RoutingTable
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.requests.cluster.metadata import PartitionMetadata
from harness.wire.requests.groups.find_coordinator import GROUP, TRANSACTION
from harness.wire.wire_errors import WireError

R = TypeVar("R", bound=ApiResult)
LEADER_APIS = frozenset({"Produce", "Fetch", "ListOffsets"})
ANSWER_SECONDS = 1.0
"""What one broker is given to answer Metadata or FindCoordinator; then the next is asked."""


@dataclass(slots=True)
class Routes:
    """One actor's leaders and coordinators."""

    connections: Connections
    _table: RoutingTable = field(default_factory=RoutingTable)
    _asked: int = 0

    def leader(self, topic: str, partition: int, deadline: Deadline) -> int | None:
        """The node that leads the partition; None when no broker answers, or none does."""
        return self._reachable(self._table.leader((topic, partition), self._anyone(deadline)))

    def partitions(self, topic: str, deadline: Deadline) -> Mapping[int, PartitionMetadata]:
        """The topic's partitions; none when no broker answers."""
        return self._table.topic(topic, self._anyone(deadline))

    def coordinator_of_transaction(self, transactional_id: str, deadline: Deadline) -> int | None:
        """The node that coordinates the id; None when no broker answers, or none does."""
        return self._reachable(self._table.coordinator(transactional_id, TRANSACTION, self._anyone(deadline)))

    def another_than_coordinator(self, transactional_id: str, deadline: Deadline) -> int | None:
        """One that does not coordinate the id, by what a broker says now; None where there is none."""
        self._table.invalidate_all_coordinators()
        coordinator = self.coordinator_of_transaction(transactional_id, deadline)
        others = (node for node in self.connections.nodes if node != coordinator)
        return None if coordinator is None else next(others, None)

    def coordinator_of_group(self, group: str, deadline: Deadline) -> int | None:
        """The node that coordinates the group; None when no broker answers, or none does."""
        return self._reachable(self._table.coordinator(group, GROUP, self._anyone(deadline)))

    def forget(self, api: str) -> None:
        """Look up again whom to ask: leaders for what is asked of leaders, else coordinators."""
        if api in LEADER_APIS:
            self._table.invalidate_all_leaders()
        else:
            self._table.invalidate_all_coordinators()

    def _reachable(self, node: int | None) -> int | None:
        return node if node in self.connections.nodes else None

    def _anyone(self, deadline: Deadline) -> Ask:
        """Asks brokers until one answers, beginning with the one that answered last."""

        def ask(request: ApiRequest[R]) -> R | None:
            for _ in self.connections.nodes:
                if deadline.over:
                    return None
                node = self.connections.nodes[self._asked % len(self.connections.nodes)]
                try:
                    return self.connections.ask(node, request, min(ANSWER_SECONDS, deadline.left))
                except WireError:
                    self._asked += 1
            return None

        return ask
