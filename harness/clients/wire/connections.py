"""One client's connections to the brokers: a request, one try, one answer or none, within a bound. Nothing is recorded.

A request that is not answered in time is left behind with its connection, because a broker works on one request of a
connection at a time: the next one must not wait behind it. What was written may still arrive, and be worked on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar, cast

from harness.base.addresses import Address, Lane
from harness.base.clock import RunClock
from harness.clients.client import ClientOptions
from harness.evidence.recorder import NullRecorder
from harness.kafka.transaction_protocol import TransactionProtocol
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.wire_client import WireClient
from harness.wire.wire_errors import NotOffered, WireError

R = TypeVar("R", bound=ApiResult)

CONSUMER_VERSIONS = {"Metadata": 12, "Fetch": 12, "ListOffsets": 8, "JoinGroup": 7, "OffsetFetch": 9}
"""The highest that a consumer of ours sends: above these, topics go by id or requests change their meaning."""


class NotSent(WireError):
    """The request was not written, so the broker cannot have worked on it."""


@dataclass(slots=True)
class Connections:
    """At most one connection a broker.

    :param highest_versions: By API; of other APIs the highest offered is sent.
    """

    client: WireClient
    highest_versions: Mapping[str, int]
    nodes: tuple[int, ...]

    @classmethod
    def of(cls, options: ClientOptions, protocol: TransactionProtocol) -> "Connections":
        """Opens nothing yet."""
        addresses = {node: Address.parse(address) for node, address in options.bootstrap.items()}
        client = WireClient(
            actor=options.actor,
            lane=cast(Lane, options.lane),
            addresses=addresses,
            clock=RunClock(),
            recorder=NullRecorder(),
            security=options.security,
        )
        return cls(client, {**CONSUMER_VERSIONS, **protocol.highest_versions}, tuple(sorted(addresses)))

    def ask(self, node: int, request: ApiRequest[R], timeout_seconds: float) -> R:
        """Send once and wait for the answer.

        :raises NotSent: When nothing was written.
        :raises WireError: When no answer came; the request may have been written.
        """
        version = self._version(node, request.api, timeout_seconds)
        try:
            return self.client.send(node, request, version).wait(timeout_seconds).result
        except WireError:
            self.client.leave(node)
            raise

    def close(self) -> None:
        self.client.close()

    def _version(self, node: int, api: str, timeout_seconds: float) -> int:
        try:
            self.client.offered(node, timeout_seconds)
            return self.client.highest(node, api, self.highest_versions.get(api))
        except NotOffered as error:
            raise NotSent(str(error)) from error
        except WireError as error:
            self.client.leave(node)
            raise NotSent(str(error)) from error
