"""One actor's connections: a request, one try, one answer or silence, within a bound. Nothing is kept of it.

A request that is not answered in time is left behind with its connection, because a broker works on one request of a
connection at a time: what comes after must not wait behind it. What was written may still arrive, and be worked on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from harness.clients.port import ClientOptions
from harness.clock import RunClock
from harness.cluster.topology import Address, Lane
from harness.history.recorder import Unrecorded
from harness.wire.client import WireClient
from harness.wire.errors import NotOffered, WireError
from harness.wire.verb import Result, Verb

R = TypeVar("R", bound=Result)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard(Generic[R]):
    """What one try came to.

    :param result: The answer; None where none came.
    :param sent: Whether the request was, or may have been, written.
    :param reason: Why there is no answer.
    """

    result: R | None = None
    sent: bool = True
    reason: str = ""


@dataclass(slots=True)
class Channel:
    """The actor's lane to every broker."""

    client: WireClient
    caps: Mapping[str, int]
    nodes: tuple[int, ...]

    @classmethod
    def of(cls, options: ClientOptions, caps: Mapping[str, int]) -> "Channel":
        """Opens nothing yet."""
        addresses = {node: _address(at) for node, at in options.bootstrap.items()}
        client = WireClient(
            actor=options.actor,
            lane=cast(Lane, options.lane),
            addresses=addresses,
            clock=RunClock(),
            recorder=Unrecorded(),
        )
        return cls(client, caps, tuple(sorted(addresses)))

    def ask(self, node: int, verb: Verb[R], within: float) -> Heard[R]:
        """Send once and wait at most ``within`` seconds; never raises for what a broker or a network does."""
        try:
            self.client.offered(node, within)
            version = self.client.highest(node, verb.api, self.caps.get(verb.api))
        except NotOffered as lack:
            return Heard(sent=False, reason=str(lack))
        except WireError as silence:
            self.client.leave(node)
            return Heard(sent=False, reason=str(silence))
        return self._sent(node, verb, version, within)

    def _sent(self, node: int, verb: Verb[R], version: int, within: float) -> Heard[R]:
        try:
            return Heard(result=self.client.send(node, verb, version).wait(within).result)
        except WireError as silence:
            self.client.leave(node)
            return Heard(reason=str(silence))

    def close(self) -> None:
        """Close every connection; may be called twice."""
        self.client.close()


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    return Address(host.strip("[]"), int(port))
