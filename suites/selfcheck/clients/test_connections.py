"""What a connection's failure means for a request: not written is no try, written and not answered is doubt."""

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from harness.clients.wire.connections import Connections, NotSent
from harness.clients.wire.deadline import Deadline
from harness.clients.wire.retry import Retry
from harness.evidence.history.operation import Outcome
from harness.wire.requests.groups.heartbeat import Heartbeat
from harness.wire.wire_client import WireClient
from harness.wire.wire_errors import ConnectionClosed, NoAnswer, NotOffered, WireError

REQUEST = Heartbeat(group="g", generation=1, member="m")


@dataclass(slots=True)
class FailingClient:
    """A wire client that fails at one of its steps, and keeps which connections were left."""

    failing: dict[str, WireError]
    asked_up_to: list[int | None] = field(default_factory=list)
    left: list[int] = field(default_factory=list)

    def offered(self, _node: int, _timeout_seconds: float) -> None:
        self._fail("offered")

    def highest(self, _node: int, _api: str, cap: int | None) -> int:
        self.asked_up_to.append(cap)
        self._fail("highest")
        return 4

    def send(self, _node: int, _request: Any, _version: int) -> Any:
        self._fail("send")
        return self

    def wait(self, _timeout_seconds: float) -> Any:
        self._fail("wait")

    def leave(self, node: int) -> None:
        self.left.append(node)

    def _fail(self, step: str) -> None:
        if step in self.failing:
            raise self.failing[step]


def connections(client: FailingClient) -> Connections:
    """To nodes 1 and 2 over a failing client."""
    return Connections(cast(WireClient, client), {"Heartbeat": 3}, (1, 2))


@pytest.mark.parametrize(
    ("step", "failure", "left"),
    [
        ("offered", NoAnswer("no answer"), [2]),
        ("offered", ConnectionClosed("refused"), [2]),
        ("highest", NotOffered("offers none"), []),
    ],
)
def test_what_fails_before_the_request_is_written_is_not_sent(step: str, failure: WireError, left: list[int]) -> None:
    client = FailingClient({step: failure})
    with pytest.raises(NotSent, match=str(failure)):
        connections(client).ask(2, REQUEST, 0.1)
    assert client.left == left


@pytest.mark.parametrize("step", ["send", "wait"])
def test_what_may_have_been_written_leaves_its_connection_behind(step: str) -> None:
    client = FailingClient({step: NoAnswer("no answer")})
    with pytest.raises(NoAnswer):
        connections(client).ask(2, REQUEST, 0.1)
    assert (client.left, client.asked_up_to) == ([2], [3])


@pytest.mark.parametrize(("step", "outcome"), [("offered", Outcome.REFUSED), ("wait", Outcome.UNSURE)])
def test_only_a_request_that_may_have_been_written_is_a_try_and_leaves_doubt(step: str, outcome: Outcome) -> None:
    retry = Retry(connections(FailingClient({step: NoAnswer("no answer")})))
    result, answer = retry.ask(REQUEST, lambda _: 2, Deadline.of_ms(30))
    assert (result.outcome, result.error, result.reason, answer) == (outcome, None, "no answer", None)
    assert bool(result.tries) is (step == "wait")
