"""One connection through the gate: requests go up in order, save what a rule does to them; answers come down.

A request that waits keeps those behind it waiting, as the order of a connection demands, unless its rule says
``alone``. When the sender is gone, what still waits is delivered all the same, and then the broker's side ends.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from harness.base.addresses import Address
from harness.faults.gate.active_rule import ActiveRule, StrikeLog
from harness.faults.gate.framed_protocol import FramedProtocol
from harness.faults.gate.lie import LiedRequest, LiedResponse
from harness.faults.gate.request_info import RequestInfo
from harness.faults.gate.rulebook import Rulebook, RuleDecision
from harness.wire.frame_codec import (
    SHORTEST,
    errors_in,
    opened_response,
    renumbered,
    rewritten_request,
    written_response,
)
from harness.wire.wire_errors import WireError

FIRST_TWIN = 0x60000000
"""Correlation ids of repeated requests begin here, far from any that a client counts up to."""
REMEMBERED = 10_000
LAST_ANSWERS = 10.0
"""Seconds that the broker has for answers which nobody waits for any more."""


@dataclass(slots=True, kw_only=True)
class OutstandingRequest:
    """A forwarded request whose answer the gate looks at."""

    facts: RequestInfo
    struck: StrikeLog | None = None
    swallow: bool = False
    hang_up: bool = False
    lying: ActiveRule | None = None
    asked: LiedRequest | None = None


@dataclass(slots=True, eq=False)
class ForwardedRequest:
    """A request on its way up."""

    raw: bytes
    outstanding: OutstandingRequest | None
    ready: bool = True


class ProxiedConnection:
    """The two ends of one connection and what is between them."""

    def __init__(self, proxy: str, upstream: Address, book: Rulebook) -> None:
        self._proxy = proxy
        self._upstream = upstream
        self._book = book
        self._queue: deque[ForwardedRequest] = deque()
        self._aside: set[ForwardedRequest] = set()
        self._asked: dict[int, OutstandingRequest] = {}
        self._twin = FIRST_TWIN
        self._open = False
        self.caller = FramedProtocol(self._request, self._caller_ended)
        self._broker = FramedProtocol(self._response, self._broker_ended)
        self.caller.peer, self._broker.peer = self._broker, self.caller

    async def connect(self) -> None:
        """Reach the broker; where nobody takes the connection the caller's ends too."""
        try:
            await asyncio.get_running_loop().create_connection(
                lambda: self._broker, self._upstream.host, self._upstream.port
            )
        except OSError:
            self._broker.abort()
            return
        self._open = True
        self._flush()
        self._finish_if_over()

    # Upward

    def _request(self, raw: bytes) -> None:
        if len(raw) < 4 + SHORTEST:
            self.caller.abort()
            return
        judged = self._judged(raw)
        if judged is None:
            self._forward(ForwardedRequest(raw, None))
        elif judged.engaged is None:
            self._forward(ForwardedRequest(raw, OutstandingRequest(facts=judged.facts)))
        else:
            ACTIONS[judged.engaged.rule.then.action](self, judged, judged.engaged, raw)

    def _judged(self, raw: bytes) -> RuleDecision | None:
        try:
            return self._book.judge(self._proxy, raw)
        except (WireError, ValueError, TypeError, AttributeError, LookupError) as error:
            self._book.user_error(f"a request on {self._proxy} passed unjudged: {error!r}")
            return None

    def _hold(self, judged: RuleDecision, engaged: ActiveRule, raw: bytes) -> None:
        then = engaged.rule.then
        struck = engaged.strike(judged.facts, self._proxy, "held")
        going = ForwardedRequest(raw, OutstandingRequest(facts=judged.facts, struck=struck), ready=False)
        struck.release = lambda: self._let_go(going)
        if then.alone:
            self._aside.add(going)
        else:
            self._queue.append(going)
        asyncio.get_running_loop().call_later(then.at_most_ms / 1000, self._let_go, going)
        if then.hang_up:
            self.caller.abort()

    def _drop_request(self, judged: RuleDecision, engaged: ActiveRule, _raw: bytes) -> None:
        engaged.strike(judged.facts, self._proxy, "dropped").note("dropped")
        if engaged.rule.then.hang_up:
            self.caller.abort()

    def _drop_response(self, judged: RuleDecision, engaged: ActiveRule, raw: bytes) -> None:
        struck = engaged.strike(judged.facts, self._proxy, "held")
        hang_up = engaged.rule.then.hang_up
        self._forward(
            ForwardedRequest(raw, OutstandingRequest(facts=judged.facts, struck=struck, swallow=True, hang_up=hang_up))
        )

    def _repeat(self, judged: RuleDecision, engaged: ActiveRule, raw: bytes) -> None:
        struck = engaged.strike(judged.facts, self._proxy, "held")
        self._forward(ForwardedRequest(raw, OutstandingRequest(facts=judged.facts)))
        self._twin += 1
        twin = raw[:4] + renumbered(raw[4:], self._twin)
        self._forward(ForwardedRequest(twin, OutstandingRequest(facts=judged.facts, struck=struck, swallow=True)))

    def _lie(self, judged: RuleDecision, engaged: ActiveRule, raw: bytes) -> None:
        assert engaged.lie is not None
        asked = LiedRequest(facts=judged.facts, body=judged.body, newest=self._book.newest)
        told = engaged.lie.request(asked)
        if told is not judged.body:
            engaged.strike(judged.facts, self._proxy, "told").note("told")
        if isinstance(told, LiedResponse):
            self.caller.send(_with_length(written_response(judged.facts.head, told.body)))
            return
        if told is not judged.body:
            raw = _with_length(rewritten_request(raw[4:], judged.facts.head, told))
        self._forward(ForwardedRequest(raw, OutstandingRequest(facts=judged.facts, lying=engaged, asked=asked)))

    def _forward(self, going: ForwardedRequest) -> None:
        self._queue.append(going)
        self._flush()

    def _let_go(self, going: ForwardedRequest) -> None:
        if going in self._aside:
            self._aside.discard(going)
            self._queue.appendleft(going)
        going.ready = True
        self._flush()
        self._finish_if_over()

    def _flush(self) -> None:
        while self._open and self._queue and self._queue[0].ready:
            self._write(self._queue.popleft())

    def _write(self, going: ForwardedRequest) -> None:
        if going.outstanding is not None:
            self._asked[int.from_bytes(going.raw[8:12], "big")] = going.outstanding
            if len(self._asked) > REMEMBERED:  # requests with acks=0 are never answered
                del self._asked[next(iter(self._asked))]
            if going.outstanding.struck is not None:
                going.outstanding.struck.note("lost" if self._broker.ended else "delivered")
        self._broker.send(going.raw)

    # Downward

    def _response(self, raw: bytes) -> None:
        outstanding = self._asked.pop(int.from_bytes(raw[4:8], "big"), None) if self._asked else None
        if outstanding is None:
            self.caller.send(raw)
            return
        answer, error = self._read(outstanding.facts, raw)
        if outstanding.struck is not None:
            outstanding.struck.note("answered", error=error)
        self._book.answered(outstanding.facts, answer, error)
        if outstanding.swallow:
            if outstanding.hang_up:
                self.caller.abort()
            return
        self.caller.send(self._retold(outstanding, answer, raw))

    def _read(self, facts: RequestInfo, raw: bytes) -> tuple[object, int | None]:
        try:
            answer = opened_response(facts.head, raw[4:])
        except WireError as error:
            self._book.user_error(f"an answer on {self._proxy} passed unread: {error}")
            return None, None
        return answer, next((code for code in errors_in(answer) if code), 0)

    def _retold(self, outstanding: OutstandingRequest, answer: object, raw: bytes) -> bytes:
        engaged, asked = outstanding.lying, outstanding.asked
        if engaged is None or engaged.lie is None or asked is None or answer is None:
            return raw
        told = engaged.lie.response(asked, answer)
        if told is answer:
            return raw
        engaged.strike(outstanding.facts, self._proxy, "told").note("told")
        return _with_length(written_response(outstanding.facts.head, told))

    # Ends

    def _caller_ended(self) -> None:
        if self._queue or self._aside:
            return  # they are delivered first
        self._broker.close()

    def _finish_if_over(self) -> None:
        if self.caller.ended and self._open and not self._queue and not self._aside and not self._broker.ended:
            self._broker.finish()
            asyncio.get_running_loop().call_later(LAST_ANSWERS, self._broker.abort)

    def _broker_ended(self) -> None:
        for going in (*self._queue, *self._aside):
            if going.outstanding is not None and going.outstanding.struck is not None:
                going.outstanding.struck.note("lost")
        for outstanding in self._asked.values():
            if outstanding.struck is not None:
                outstanding.struck.note("lost")
        self._queue.clear()
        self._aside.clear()
        self._asked.clear()
        self.caller.close()


ACTIONS: Mapping[str, Callable[[ProxiedConnection, RuleDecision, ActiveRule, bytes], None]] = {
    "hold": ProxiedConnection._hold,
    "drop-request": ProxiedConnection._drop_request,
    "drop-response": ProxiedConnection._drop_response,
    "repeat": ProxiedConnection._repeat,
    "lie": ProxiedConnection._lie,
}


def _with_length(frame: bytes) -> bytes:
    return len(frame).to_bytes(4, "big") + frame
