"""Sending a request until its answer is final, as :mod:`harness.clients.wire.retry`, while others go on."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from harness.clients.client import CallResult
from harness.clients.pipelined.outgoing_batches import FIRST_PAUSE_SECONDS
from harness.clients.pipelined.shared_connections import SharedConnections
from harness.clients.pipelined.shared_routes import SharedRoutes
from harness.clients.wire.connections import R
from harness.clients.wire.deadline import Deadline
from harness.clients.wire.retry import LONGEST_PAUSE_SECONDS, RepeatedRequest
from harness.wire.api_request import ApiRequest
from harness.wire.wire_errors import WireError

FindNode: TypeAlias = Callable[[], Awaitable[int | None]]


@dataclass(slots=True)
class PipelinedRetry:
    connections: SharedConnections
    routes: SharedRoutes

    async def ask(
        self,
        request: ApiRequest[R],
        find_node: FindNode,
        deadline: Deadline,
        *,
        timeout_seconds: float,
        repeatable: bool = True,
    ) -> tuple[CallResult, R | None]:
        """What became of the request, and the final answer where there was one, be it an error.

        :param timeout_seconds: How long one try may go unanswered.
        :param repeatable: Whether it may be sent again after an unanswered try.
        """
        repeated, pause = RepeatedRequest(request, self.routes.forget, repeatable), FIRST_PAUSE_SECONDS
        while True:
            node = await find_node()
            if node is None:
                self.routes.forget(request.api)
            else:
                if final := await self._once(node, repeated, min(timeout_seconds, deadline.left)):
                    return final
            if deadline.over:
                return repeated.tries.given_up(), None
            await asyncio.sleep(min(pause, deadline.left))
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    async def _once(
        self, node: int, repeated: RepeatedRequest[R], timeout_seconds: float
    ) -> tuple[CallResult, R | None] | None:
        try:
            answer = await self.connections.ask(node, repeated.request, timeout_seconds)
        except WireError as error:
            return repeated.unanswered(error)
        return repeated.answered(answer)
