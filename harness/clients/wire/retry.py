"""Sending a request until its answer is final or the operation's deadline has passed: the rule of the port, in code.

A try that was answered with a passing refusal (``again``) did nothing and may be repeated. A try that was not answered
may have been worked on, or may be worked on later, when it arrives late. It may be repeated only where the broker can
tell the repetition from a new request (a batch by its sequence, an end of Transactions V2 by its epoch), and whatever
follows is an answer *after doubt*.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeAlias

from harness.base import wait
from harness.clients.client import CallResult
from harness.clients.wire.connections import Connections, R
from harness.clients.wire.deadline import Deadline
from harness.clients.wire.routes import Routes
from harness.clients.wire.tries import Tries
from harness.kafka.retriable import STALE_ROUTE
from harness.wire.api_request import ApiRequest
from harness.wire.wire_errors import WireError

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.005, 0.1
"""Between two tries; doubled each time, as clients' ``retry.backoff.ms`` is."""

FindNode: TypeAlias = Callable[[Deadline], int | None]
"""Looks up the broker to send to; None while no broker knows it."""


@dataclass(slots=True)
class RepeatedRequest(Generic[R]):
    """A request and its tries so far; nothing is sent here, so that those who wait and those who pipeline share it.

    :param forget: Has whom to ask for an API looked up again.
    :param repeatable: Whether it may be sent again after an unanswered try.
    """

    request: ApiRequest[R]
    forget: Callable[[str], None]
    repeatable: bool = True
    tries: Tries = field(default_factory=Tries)

    def answered(self, answer: R) -> tuple[CallResult, R | None] | None:
        """What an answer makes final; None where it may be tried again."""
        if answer.error in STALE_ROUTE:
            self.forget(self.request.api)
        result = self.tries.answered(self.request.api, answer.error)
        return None if result is None else (result, answer)

    def unanswered(self, error: WireError) -> tuple[CallResult, R | None] | None:
        """As :meth:`answered`, for a try without an answer."""
        self.forget(self.request.api)
        result = self.tries.unanswered(error, repeatable=self.repeatable)
        return None if result is None else (result, None)


@dataclass(slots=True)
class Retry:
    connections: Connections
    routes: Routes = field(init=False)

    def __post_init__(self) -> None:
        self.routes = Routes(self.connections)

    def ask(
        self,
        request: ApiRequest[R],
        find_node: FindNode,
        deadline: Deadline,
        *,
        timeout_seconds: float | None = None,
        repeatable: bool = True,
    ) -> tuple[CallResult, R | None]:
        """What became of the request, and the final answer where there was one, be it an error.

        :param find_node: Called before every try.
        :param timeout_seconds: How long one try may go unanswered; None for as long as the deadline allows.
        :param repeatable: Whether it may be sent again after an unanswered try.
        """
        repeated, pause = RepeatedRequest(request, self.routes.forget, repeatable), FIRST_PAUSE_SECONDS
        while True:
            node = find_node(deadline)
            if node is None:
                self.routes.forget(request.api)
            else:
                timeout = deadline.left if timeout_seconds is None else min(timeout_seconds, deadline.left)
                if final := self._once(node, repeated, timeout):
                    return final
            if deadline.over:
                return repeated.tries.given_up(), None
            wait.pause(min(pause, deadline.left))
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def ask_once(
        self, request: ApiRequest[R], find_node: FindNode, deadline: Deadline, *, timeout_seconds: float
    ) -> tuple[CallResult, R | None]:
        """As :meth:`ask`, with one try, whatever it is answered."""
        repeated, node = RepeatedRequest(request, self.routes.forget, repeatable=False), find_node(deadline)
        final = None if node is None else self._once(node, repeated, min(timeout_seconds, deadline.left))
        return final or (repeated.tries.given_up(), None)

    def _once(
        self, node: int, repeated: RepeatedRequest[R], timeout_seconds: float
    ) -> tuple[CallResult, R | None] | None:
        try:
            answer = self.connections.ask(node, repeated.request, timeout_seconds)
        except WireError as error:
            return repeated.unanswered(error)
        return repeated.answered(answer)
