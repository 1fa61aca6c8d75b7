"""One actor's connections: a request, one try, one answer or silence, within a bound. Nothing is kept of it.

A request that is not answered in time is left behind with its connection, because a broker works on one request of a
connection at a time: what comes after must not wait behind it. What was written may still arrive, and be worked on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from harness.base.addresses import Address, Lane
from harness.base.clock import RunClock
from harness.clients.client import ClientOptions
from harness.evidence.recorder import NullRecorder
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.wire_client import WireClient
from harness.wire.wire_errors import NotOffered, WireError

R = TypeVar("R", bound=ApiResult)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt(Generic[R]):
    """What one try came to.

    :param result: The answer; None where none came.
    :param sent: Whether the request was, or may have been, written.
    :param reason: Why there is no answer.
    """

    result: R | None = None
    sent: bool = True
    reason: str = ""


@dataclass(slots=True)
class Connections:
    """The actor's lane to every broker."""

    client: WireClient
    caps: Mapping[str, int]
    nodes: tuple[int, ...]

    @classmethod
    def of(cls, options: ClientOptions, caps: Mapping[str, int]) -> "Connections":
        """Opens nothing yet."""
        addresses = {node: Address.parse(at) for node, at in options.bootstrap.items()}
        client = WireClient(
            actor=options.actor,
            lane=cast(Lane, options.lane),
            addresses=addresses,
            clock=RunClock(),
            recorder=NullRecorder(),
        )
        return cls(client, caps, tuple(sorted(addresses)))

    def ask(self, node: int, verb: ApiRequest[R], within: float) -> Attempt[R]:
        """Send once and wait at most ``within`` seconds; never raises for what a broker or a network does."""
        try:
            self.client.offered(node, within)
            version = self.client.highest(node, verb.api, self.caps.get(verb.api))
        except NotOffered as lack:
            return Attempt(sent=False, reason=str(lack))
        except WireError as silence:
            self.client.leave(node)
            return Attempt(sent=False, reason=str(silence))
        return self._sent(node, verb, version, within)

    def _sent(self, node: int, verb: ApiRequest[R], version: int, within: float) -> Attempt[R]:
        try:
            return Attempt(result=self.client.send(node, verb, version).wait(within).result)
        except WireError as silence:
            self.client.leave(node)
            return Attempt(reason=str(silence))

    def close(self) -> None:
        """Close every connection; may be called twice."""
        self.client.close()
