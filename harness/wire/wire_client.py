"""A client that sends any API at any version which the broker offers, and whose every exchange is recorded."""

from collections.abc import Callable, Mapping
from threading import Lock
from typing import TypeVar

from harness.base.addresses import Address
from harness.base.clock import RunClock
from harness.base.json_value import Json
from harness.base.kafka_error import KafkaError, error_name
from harness.evidence.exchange import Exchange
from harness.evidence.recorder import NullRecorder, Recorder
from harness.wire.api_names import key_of, known_versions
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.codec.json_form import json_form
from harness.wire.connection import Connection
from harness.wire.frames import decode, encode, with_version
from harness.wire.offered import Offered
from harness.wire.pending_request import PendingResponse, Response
from harness.wire.requests.cluster.api_versions import ApiVersions
from harness.wire.security.security import PLAINTEXT, Security
from harness.wire.wire_errors import CannotBuild, ConnectionClosed, NotOffered, UnreadableAnswer

__all__ = ["Offered", "PendingResponse", "Response", "WireClient"]

R = TypeVar("R", bound=ApiResult)
_ASKED_BELOW = frozenset({"Metadata", "FindCoordinator"})
CLOSED = ConnectionClosed("the client was closed")
_API_VERSIONS_TRIED = (4, 3, 0)  # 4 first: version 3 leaves out features whose lowest level is 0 (KIP-1022)


class WireClient:
    """One actor on one lane: at most one connection a node, opened at the first request and again after it ended.

    Any number of threads may use one client. Requests to one node are pipelined on its connection.
    """

    def __init__(
        self,
        *,
        actor: str,
        lane: str,
        addresses: Mapping[int, Address],
        clock: RunClock,
        recorder: Recorder,
        requirement: str | None = None,
        offered: Mapping[int, Offered] | None = None,
        security: Security = PLAINTEXT,
    ) -> None:
        """:param actor: Who this is in the journal, and the client id that brokers see.

        :param offered: What nodes are known to advertise; they are not asked again. On a lane that is about to be
            held the request for it would be held too.
        """
        self._actor = actor
        self._lane = lane
        self._addresses = addresses
        self._clock = clock
        self._recorder = recorder
        self._requirement = requirement
        self._security = security
        self._connections: dict[int, Connection] = {}
        self._over = False
        self._held = Lock()  # of the two above; never held while anything is sent or opened
        self._offered: dict[int, Offered] = dict(offered or {})
        self._readable: dict[str, int] = {}
        self._asking = {node: Lock() for node in addresses}
        self._connecting = {node: Lock() for node in addresses}
        self._as_json = _nothing if isinstance(recorder, NullRecorder) else json_form

    def offered(self, node: int, timeout_seconds: float = 10.0) -> Offered:
        """What the broker advertises, asked once.

        :param timeout_seconds: Seconds to wait for each of the at most three requests.
        :raises NoAnswer, ConnectionClosed, UnreadableAnswer: When the broker does not answer.
        """
        with self._asking[node]:
            return self._offered.get(node) or self.refresh(node, timeout_seconds)

    def refresh(self, node: int, timeout_seconds: float = 10.0) -> Offered:
        """What the broker advertises now; finalized features change while it runs."""
        for version in _API_VERSIONS_TRIED:
            answered = self._send(node, ApiVersions(), version).wait(timeout_seconds).result
            if answered.error != KafkaError.UNSUPPORTED_VERSION:
                break
        if answered.error:
            raise UnreadableAnswer(f"broker {node} answered ApiVersions with {error_name(answered.error)}")
        self._offered[node] = answered
        return answered

    def learn(self, node: int, offered: Offered) -> None:
        """Go by this from now on; the node is not asked."""
        self._offered[node] = offered

    def highest(self, node: int, api: str, cap: int | None = None) -> int:
        """The highest version that the broker offers and kio knows, not above ``cap``; :raises NotOffered: if none."""
        offered, readable = self.offered(node), self._readable.get(api)
        cap = readable if cap is None or (readable is not None and readable < cap) else cap
        known = [version for version in known_versions(api) if cap is None or version <= cap]
        common = [version for version in known if offered.offers(api, version)]
        if not common:
            ours = f"known are {known[0]}–{known[-1]}" if known else f"none up to {cap} is known"
            raise NotOffered(f"broker {node} offers {offered.range_of(api)}; {ours}")
        return common[-1]

    def send(self, node: int, request: ApiRequest[R], version: int) -> PendingResponse[R]:
        """Write the request and return at once. A connection that cannot be opened is an error of the response.

        :raises NotOffered: Before anything is written, when the broker does not offer that version.
        :raises CannotBuild: When that version cannot carry the request.
        """
        offered = self.offered(node)
        if not offered.offers(request.api, version):
            raise NotOffered(f"broker {node} offers {offered.range_of(request.api)}; version {version} is not offered")
        return self._send(node, request, version)

    def send_unoffered(self, node: int, request: ApiRequest[R], version: int) -> PendingResponse[R]:
        """As :meth:`send`, at a version that the broker need not offer.

        One that is newer than all known ones has the body of the newest known under its own number; most brokers
        close the connection.
        """
        return self._send(node, request, min(version, known_versions(request.api)[-1]), version)

    def call(
        self, node: int, request: ApiRequest[R], version: int | None = None, *, timeout_seconds: float = 10.0
    ) -> Response[R]:
        """Send and wait. Without a version: the highest that both sides know and that can carry the request.

        A server may answer the newest versions of an API with bytes that are none (librdkafka's mock cluster does so
        from Metadata 9 on). A request that only asks where things are is then sent at the versions below, as an older
        client would send it, and this client goes on with the version whose answer it could read.

        :raises NotOffered, CannotBuild, NoAnswer, ConnectionClosed, UnreadableAnswer: See ``send`` and
        ``PendingResponse.wait``.
        """
        if version is not None:
            return self.send(node, request, version).wait(timeout_seconds)
        while True:
            chosen = self._highest_for(node, request)
            try:
                return self.send(node, request, chosen).wait(timeout_seconds)
            except UnreadableAnswer:
                if request.api not in _ASKED_BELOW or not self.offered(node).offers(request.api, chosen - 1):
                    raise
                self._readable[request.api] = chosen - 1

    def reach_by(self, addresses: Mapping[int, Address]) -> None:
        """Connect to other addresses of the same brokers from now on; open connections are left."""
        self._addresses = addresses
        for node in addresses:
            self.leave(node)

    def leave(self, node: int) -> None:
        """Close the connection to ``node``; the next request opens another. What is on its way may still arrive."""
        with self._connecting[node], self._held:
            connection = self._connections.pop(node, None)
        if connection is not None:
            connection.close("left")

    def close(self) -> None:
        """Close every connection for good, from any thread; what was never answered is recorded as ``no answer``.

        A connection that another thread is opening meanwhile is closed by that thread.
        """
        with self._held:
            self._over = True
            connections, self._connections = self._connections, {}
        for connection in connections.values():
            connection.close("no answer")

    def _highest_for(self, node: int, request: ApiRequest[ApiResult]) -> int:
        version = self.highest(node, request.api)
        while True:
            try:
                request.build(version)
            except CannotBuild as error:
                try:
                    version = self.highest(node, request.api, version - 1)
                except NotOffered:
                    raise error from None
            else:
                return version

    def _send(self, node: int, request: ApiRequest[R], built: int, numbered: int | None = None) -> PendingResponse[R]:
        """:param numbered: The version that the header says; None for that which it is built in."""
        version = built if numbered is None else numbered
        entity = request.build(built)
        number = self._recorder.next_number()
        frame = with_version(encode(entity, number, self._actor), version)
        fields = self._as_json(entity)
        connection = self._connection(node)
        unanswered = self._exchange(number, node, request.api, version, fields)
        pending = PendingResponse(unanswered, _reader(request, built, self._as_json), self._recorder)
        if isinstance(connection, ConnectionClosed):
            pending.failed(f"no connection: {connection}")
        else:
            connection.send(number, frame, pending)
        return pending

    def _exchange(self, number: int, node: int, api: str, version: int, request: Mapping[str, Json]) -> Exchange:
        return Exchange(
            number=number,
            actor=self._actor,
            lane=self._lane,
            node=node,
            api=api,
            key=key_of(api),
            version=version,
            sent=self._clock.now(),
            answered=None,
            request=request,
            requirement=self._requirement,
        )

    def _connection(self, node: int) -> Connection | ConnectionClosed:
        with self._connecting[node]:
            if self._over:
                return CLOSED
            current = self._connections.get(node)
            if current is not None and not current.closed:
                return current
            try:
                return self._kept(node, self._connected(node))
            except ConnectionClosed as error:
                return error

    def _kept(self, node: int, opened: Connection) -> Connection | ConnectionClosed:
        """The connection is this client's, unless the client was closed while it was opened."""
        with self._held:
            if not self._over:
                self._connections[node] = opened
                return opened
        opened.close("no answer")
        return CLOSED

    def _connected(self, node: int) -> Connection:
        name = self._security.names.get(node)
        return Connection(self._addresses[node], self._clock, self._security, name, actor=self._actor)


def _reader(
    request: ApiRequest[R], version: int, as_json: Callable[[object], Mapping[str, Json]]
) -> Callable[[bytes], tuple[R, Mapping[str, Json]]]:
    def read(frame: bytes) -> tuple[R, Mapping[str, Json]]:
        response = decode(key_of(request.api), version, frame)
        return request.read(response), as_json(response)

    return read


def _nothing(_entity: object) -> Mapping[str, Json]:
    """What is not recorded need not be converted; of a Fetch that would be every record."""
    return {}
