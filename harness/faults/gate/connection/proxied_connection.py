"""One connection through the gate: requests are forwarded in order, save what a rule does to them, and responses back.

A held request keeps those behind it waiting, as Kafka's order of a connection demands, unless its rule has ``alone``.
When the client is gone, held requests are delivered all the same, and then the broker's side ends.
"""

import asyncio
import ssl
from collections import deque
from collections.abc import Callable, Mapping

from harness.faults.gate.active_rule import ActiveRule, StruckRequest
from harness.faults.gate.connection.broker_login import BrokerLogin
from harness.faults.gate.connection.outstanding_request import OutstandingRequest, QueuedRequest, WayToBroker
from harness.faults.gate.connection.response_queue import ResponseQueue
from harness.faults.gate.lie import LiedRequest, LiedResponse
from harness.faults.gate.request_info import RequestInfo
from harness.faults.gate.rulebook import DecodedRequest, Rulebook
from harness.faults.gate.watch.client_watch import ClientWatch
from harness.faults.gate.watch.logged_frame import Answerer, LoggedFrame
from harness.wire.frame_codec import (
    SHORTEST,
    errors_in,
    read_response,
    renumbered,
    request_header,
    request_with_body,
    write_response,
)
from harness.wire.framed_protocol import FramedProtocol, key_and_version, with_length
from harness.wire.security.tls_context import tls_context
from harness.wire.security.tls_refusals import tls_refused
from harness.wire.wire_errors import ConnectionClosed, SecurityRefused, WireError

FIRST_DUPLICATE = 0x60000000
"""Correlation ids of repeated requests begin here, far from any that a client counts up to."""
NOBODYS_ID = (0x7FFFFFF0).to_bytes(4, "big")
"""A correlation id to which no client counts up."""
MOST_OUTSTANDING = 10_000
LAST_RESPONSES_SECONDS = 10.0
"""Seconds that the broker has for responses once the client is gone."""


class ProxiedConnection:
    """The client's and the broker's side of one connection, and the requests between them."""

    def __init__(self, way: WayToBroker, rulebook: Rulebook, watch: ClientWatch) -> None:
        self._way = way
        self._watch = watch
        self._proxy = way.proxy
        self._rulebook = rulebook
        self._queue: deque[QueuedRequest] = deque()
        self._held_alone: set[QueuedRequest] = set()
        self._outstanding: dict[int, OutstandingRequest] = {}
        self._last_duplicate = FIRST_DUPLICATE
        self._open = False
        self.client_side = FramedProtocol(self._on_request, self._client_ended)
        self._responses = ResponseQueue(self.client_side.send)
        self._broker_side = FramedProtocol(self._on_response, self._broker_ended)
        self._login = BrokerLogin(security=way.security, broker=way.upstream, send=self._broker_side.send)
        self._logging_in: asyncio.Task[None] | None = None
        self.client_side.peer, self._broker_side.peer = self._broker_side, self.client_side

    async def connect(self) -> None:
        """Connect to the broker; where that is refused the client's side ends too."""
        tls, address = self._way.security.tls, self._way.upstream
        try:
            await asyncio.get_running_loop().create_connection(
                lambda: self._broker_side,
                address.host,
                address.port,
                ssl=tls_context(tls) if tls else None,
                server_hostname=self._way.server_name if tls else None,
            )
        except ssl.SSLError as error:
            self._refused(tls_refused(error, address, self._way.server_name, self._way.security))
        except OSError:
            self._broker_side.abort()
        else:
            await self._open_up()

    async def _open_up(self) -> None:
        """Let requests pass, authenticated where that is due."""
        try:
            if self._login.due:
                await self._login.perform()
        except ConnectionClosed as error:
            self._refused(error)
            return
        self._open = True
        self._flush()
        self._finish_if_over()

    def _refused(self, error: ConnectionClosed) -> None:
        """That a connection ended is nothing new to a client; that we are not let in is."""
        if isinstance(error, SecurityRefused):
            self._rulebook.note_error(f"{self._proxy}: {error}")
        self._broker_side.abort()

    # Requests

    def _on_request(self, raw: bytes) -> None:
        if len(raw) < 4 + SHORTEST:
            self.client_side.abort()
            return
        logged = self._watch.log(raw, self._way.node, self._way.connection) if self._watch.logs else None
        request = self._match(raw, logged)
        if request is None:
            self._forward(QueuedRequest(raw, self._passing(raw, logged)))
        elif request.rule is None:
            self._forward(QueuedRequest(raw, OutstandingRequest(info=request.info, logged=logged)))
        else:
            ACTIONS[request.rule.rule.then.action](self, request, request.rule, raw)

    def _passing(self, raw: bytes, logged: LoggedFrame | None) -> OutstandingRequest | None:
        """What the response needs of a request that no rule has to do with; None where it passes as it comes."""
        lane = self._way.lane_addresses
        if logged is None and (lane is None or not lane.concerns(*key_and_version(raw))):
            return None
        return OutstandingRequest(info=RequestInfo(header=request_header(raw[4:])), ruled=False, logged=logged)

    def _match(self, raw: bytes, logged: LoggedFrame | None) -> DecodedRequest | None:
        try:
            return self._rulebook.match(self._proxy, raw, logged)
        except (WireError, ValueError, TypeError, AttributeError, LookupError) as error:
            self._rulebook.note_error(f"a request on {self._proxy} passed, because no rule could be matched: {error!r}")
            return None

    def _hold(self, request: DecodedRequest, rule: ActiveRule, raw: bytes) -> None:
        then = rule.rule.then
        struck = rule.strike(request.info, self._proxy, "held")
        outstanding = OutstandingRequest(info=request.info, struck=struck, logged=request.logged)
        queued = QueuedRequest(raw, outstanding, ready=False)
        struck.release = lambda: self._release(queued)
        if then.alone:
            self._held_alone.add(queued)
        else:
            self._queue.append(queued)
        asyncio.get_running_loop().call_later(then.at_most_ms / 1000, self._release, queued)
        if then.hang_up:
            self.client_side.abort()

    def _drop_request(self, request: DecodedRequest, rule: ActiveRule, _raw: bytes) -> None:
        rule.strike(request.info, self._proxy, "dropped").note("dropped")
        if rule.rule.then.hang_up:
            self.client_side.abort()

    def _drop_response(self, request: DecodedRequest, rule: ActiveRule, raw: bytes) -> None:
        struck, hang_up = rule.strike(request.info, self._proxy, "held"), rule.rule.then.hang_up
        outstanding = OutstandingRequest(info=request.info, struck=struck, drop_response=True, hang_up=hang_up)
        self._forward(QueuedRequest(raw, outstanding))

    def _hold_response(self, request: DecodedRequest, rule: ActiveRule, raw: bytes) -> None:
        struck = rule.strike(request.info, self._proxy, "held")
        outstanding = OutstandingRequest(info=request.info, struck=struck, hold_response=True, logged=request.logged)
        self._forward(QueuedRequest(raw, outstanding))

    def _repeat(self, request: DecodedRequest, rule: ActiveRule, raw: bytes) -> None:
        struck = rule.strike(request.info, self._proxy, "held")
        self._forward(QueuedRequest(raw, OutstandingRequest(info=request.info, logged=request.logged)))
        self._last_duplicate += 1
        duplicate = raw[:4] + renumbered(raw[4:], self._last_duplicate)
        outstanding = OutstandingRequest(info=request.info, struck=struck, drop_response=True)
        self._forward(QueuedRequest(duplicate, outstanding))

    def _renumber(self, request: DecodedRequest, rule: ActiveRule, raw: bytes) -> None:
        struck = rule.strike(request.info, self._proxy, "held")
        outstanding = OutstandingRequest(info=request.info, struck=struck, renumber=True, logged=request.logged)
        self._forward(QueuedRequest(raw, outstanding))

    def _lie(self, request: DecodedRequest, rule: ActiveRule, raw: bytes) -> None:
        assert rule.lie is not None
        asked = LiedRequest(info=request.info, body=request.body, latest=self._rulebook.latest)
        body = rule.lie.request(asked)
        if isinstance(body, LiedResponse):
            self._answer_in_place(request, rule, body.body)
            return
        if body is not request.body:
            rule.strike(request.info, self._proxy, "rewritten").note("rewritten")
            raw = with_length(request_with_body(raw[4:], request.info.header, body))
        outstanding = OutstandingRequest(info=request.info, lying=rule, asked=asked, logged=request.logged)
        self._forward(QueuedRequest(raw, outstanding))

    def _answer_in_place(self, request: DecodedRequest, rule: ActiveRule, body: object) -> None:
        raw = with_length(write_response(request.info.header, body))
        struck = rule.strike(request.info, self._proxy, "held")
        outstanding = OutstandingRequest(info=request.info, logged=request.logged)
        queued = QueuedRequest(raw, outstanding, ready=False, in_place=True)

        def answer() -> None:
            struck.release = None
            struck.note("rewritten", error=_first_error(body))
            self._release(queued)

        struck.release = answer
        self._queue.append(queued)
        if not rule.rule.then.waits:
            answer()

    def _forward(self, queued: QueuedRequest) -> None:
        self._queue.append(queued)
        self._flush()

    def _release(self, queued: QueuedRequest) -> None:
        if queued in self._held_alone:
            self._held_alone.discard(queued)
            self._queue.appendleft(queued)
        queued.ready = True
        self._flush()
        self._finish_if_over()

    def _flush(self) -> None:
        while self._open and self._queue and self._queue[0].ready:
            if self._login.due:
                self._open = False
                self._logging_in = asyncio.get_running_loop().create_task(self._open_up())
                return
            self._write(self._queue.popleft())

    def _write(self, queued: QueuedRequest) -> None:
        if queued.in_place:
            assert queued.outstanding is not None
            self._responses.add_in_place(queued.raw, queued.outstanding.sent(queued.raw, "gate"))
            return
        if queued.outstanding is not None:
            self._outstanding[int.from_bytes(queued.raw[8:12], "big")] = queued.outstanding
            if len(self._outstanding) > MOST_OUTSTANDING:  # requests with acks=0 are never answered
                del self._outstanding[next(iter(self._outstanding))]
            if queued.outstanding.struck is not None:
                queued.outstanding.struck.note("lost" if self._broker_side.ended else "delivered")
        self._responses.last_request = queued.raw
        self._broker_side.send(queued.raw)

    # Responses

    def _on_response(self, raw: bytes) -> None:
        if self._login.takes(raw):
            return
        outstanding = self._outstanding.pop(int.from_bytes(raw[4:8], "big"), None) if self._outstanding else None
        if outstanding is None:
            self._responses.add(raw)
        elif outstanding.ruled:
            self._answer_by_rules(outstanding, raw)
        else:
            self._respond(outstanding, raw)
        self._responses.came(raw[4:8])

    def _respond(self, outstanding: OutstandingRequest, raw: bytes, answerer: Answerer = "broker") -> None:
        readdressed = self._readdressed(outstanding, raw)
        sent = raw[:4] + NOBODYS_ID + readdressed[8:] if outstanding.renumber else readdressed
        self._responses.add(sent, outstanding.sent(readdressed, "gate" if outstanding.renumber else answerer))

    def _hold_back(self, struck: StruckRequest, outstanding: OutstandingRequest, raw: bytes, error: int | None) -> None:
        forward = self._responses.hold(raw, outstanding.sent(raw))

        def release() -> None:
            struck.note("answered", error=error)
            forward()

        struck.release = release
        struck.note("answer-held", error=error)
        asyncio.get_running_loop().call_later(struck.active_rule.rule.then.at_most_ms / 1000, release)

    def _answer_by_rules(self, outstanding: OutstandingRequest, raw: bytes) -> None:
        body, error = self._read(outstanding.info, raw)
        self._rulebook.note_response(outstanding.info, body, error)
        if outstanding.struck is not None:
            if outstanding.hold_response:
                self._hold_back(outstanding.struck, outstanding, self._readdressed(outstanding, raw), error)
                return
            outstanding.struck.note("answered", error=error)
        if outstanding.drop_response:
            if outstanding.hang_up:
                self.client_side.abort()
            return
        rewritten = self._rewritten(outstanding, body, raw, error)
        self._respond(outstanding, rewritten, "broker" if rewritten is raw else "gate")

    def _readdressed(self, outstanding: OutstandingRequest, raw: bytes) -> bytes:
        header = outstanding.info.header
        if self._way.lane_addresses is None or not self._way.lane_addresses.concerns(header.key, header.version):
            return raw
        try:
            return self._way.lane_addresses.replaced(header, raw)
        except WireError as error:
            self._rulebook.note_error(f"brokers' addresses on {self._proxy} were not replaced: {error}")
            return raw

    def _read(self, info: RequestInfo, raw: bytes) -> tuple[object, int | None]:
        if not info.readable:
            return None, None
        try:
            body = read_response(info.header, raw[4:])
        except WireError as error:
            self._rulebook.note_error(f"a response on {self._proxy} passed undecoded: {error}")
            return None, None
        return body, _first_error(body)

    def _rewritten(self, outstanding: OutstandingRequest, body: object, raw: bytes, error: int | None) -> bytes:
        rule, asked = outstanding.lying, outstanding.asked
        if rule is None or rule.lie is None or asked is None or body is None or rule.spent:
            return raw
        lied = rule.lie.response(asked, body)
        if lied is body:
            return raw
        rule.strike(outstanding.info, self._proxy, "rewritten").note("rewritten", error=error)
        return with_length(write_response(outstanding.info.header, lied))

    # Ends

    def _client_ended(self) -> None:
        if self._queue or self._held_alone:
            return  # they are delivered first
        if any(outstanding.struck is not None for outstanding in self._outstanding.values()):
            self._finish_if_over()  # what became of it is evidence, whoever is there to hear it
        else:
            self._broker_side.close()

    def _finish_if_over(self) -> None:
        waiting = self._queue or self._held_alone
        if self.client_side.ended and self._open and not waiting and not self._broker_side.ended:
            self._broker_side.finish()
            asyncio.get_running_loop().call_later(LAST_RESPONSES_SECONDS, self._broker_side.abort)

    def _broker_ended(self) -> None:
        queued = [request.outstanding for request in (*self._queue, *self._held_alone)]
        for outstanding in (*queued, *self._outstanding.values()):
            if outstanding is not None and outstanding.struck is not None:
                outstanding.struck.note("lost")
        self._queue.clear()
        self._held_alone.clear()
        self._outstanding.clear()
        self._responses.clear()
        self._login.end()
        self.client_side.close()


ACTIONS: Mapping[str, Callable[[ProxiedConnection, DecodedRequest, ActiveRule, bytes], None]] = {
    "hold": ProxiedConnection._hold,
    "hold-response": ProxiedConnection._hold_response,
    "drop-request": ProxiedConnection._drop_request,
    "drop-response": ProxiedConnection._drop_response,
    "repeat": ProxiedConnection._repeat,
    "renumber": ProxiedConnection._renumber,
    "lie": ProxiedConnection._lie,
}


def _first_error(body: object) -> int:
    return next((code for code in errors_in(body) if code), 0)
