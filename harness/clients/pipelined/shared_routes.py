"""Leaders and coordinators for producers that share connections: each is looked up once, whoever wants to know it."""

import asyncio
from collections.abc import Coroutine, Hashable
from dataclasses import dataclass, field
from typing import Any

from harness.clients.pipelined.shared_connections import SharedConnections
from harness.clients.wire.connections import R
from harness.clients.wire.routes import ANSWER_SECONDS, LEADER_APIS
from harness.kafka.routing import RoutingTable
from harness.wire.api_request import ApiRequest
from harness.wire.requests.cluster.metadata import Metadata
from harness.wire.requests.groups.find_coordinator import TRANSACTION, FindCoordinator
from harness.wire.topic_partitions import TopicPartition
from harness.wire.wire_errors import WireError


@dataclass(slots=True)
class SharedRoutes:
    """What is known stays until an answer shows that it has changed."""

    connections: SharedConnections
    _table: RoutingTable = field(default_factory=RoutingTable)
    _asking: dict[Hashable, "asyncio.Task[None]"] = field(default_factory=dict)
    _asked: int = 0

    async def leader(self, partition: TopicPartition) -> int | None:
        """The node that leads the partition; None when no broker answers, or none does."""
        if self._table.known_leader(partition) is None:
            await self._once(partition[0], self._refresh(partition[0]))
        return self._reachable(self._table.known_leader(partition))

    def known_leader(self, partition: TopicPartition) -> int | None:
        """As :meth:`leader`, where it is known; nothing is asked."""
        return self._reachable(self._table.known_leader(partition))

    async def coordinator(self, transactional_id: str) -> int | None:
        """The node that coordinates the id; None when no broker answers, or none does."""
        if self._table.known_coordinator(transactional_id, TRANSACTION) is None:
            await self._once((transactional_id,), self._find(transactional_id))
        return self._reachable(self._table.known_coordinator(transactional_id, TRANSACTION))

    def forget(self, api: str) -> None:
        """Look up again whom to ask: leaders for what is asked of leaders, else coordinators."""
        if api in LEADER_APIS:
            self._table.invalidate_all_leaders()
        else:
            self._table.invalidate_all_coordinators()

    async def close(self) -> None:
        for task in self._asking.values():
            task.cancel()
        await asyncio.gather(*self._asking.values(), return_exceptions=True)

    async def _once(self, what: Hashable, asking: Coroutine[Any, Any, None]) -> None:
        task = self._asking.get(what)
        if task is None:
            task = self._asking[what] = asyncio.create_task(asking)
            task.add_done_callback(lambda _: self._asking.pop(what, None))
        else:
            asking.close()
        await asyncio.shield(task)

    async def _refresh(self, topic: str) -> None:
        answer = await self._anyone(Metadata(topics=(topic,)))
        if answer is not None:
            self._table.learn(answer)

    async def _find(self, transactional_id: str) -> None:
        answer = await self._anyone(FindCoordinator(key=transactional_id, key_type=TRANSACTION))
        if answer is not None and not answer.error:
            self._table.learn_coordinator(transactional_id, TRANSACTION, answer.node)

    async def _anyone(self, request: ApiRequest[R]) -> R | None:
        """The answer of the first broker that gives one, beginning with the one that answered last."""
        nodes = self.connections.nodes
        for _ in nodes:
            try:
                return await self.connections.ask(nodes[self._asked % len(nodes)], request, ANSWER_SECONDS)
            except WireError:
                self._asked += 1
        return None

    def _reachable(self, node: int | None) -> int | None:
        return node if node in self.connections.addresses else None
