"""Requests of traces that tests write by hand, and the verdict on them."""

from typing import Any

from msgspec.structs import replace

from harness.model.model_requests import EndTxnAsked, InitProducerIdAsked, ModelAnswer, ModelRequest, ProduceAsked
from harness.model.protocol_profile import NEWEST, ProtocolProfile
from harness.model.traces.trace_check import TraceVerdict, check_trace
from harness.model.traces.traced_request import TracedRequest

TID, PRODUCER = "own", 4711
NEVER = 1e9
"""A timeout that no trace reaches."""


def asked(request: ModelRequest, at: float, answer: ModelAnswer | None = None, *, who: str = "a") -> TracedRequest:
    """Sent at a time and answered half a unit later; without an answer, never."""
    answered = None if answer is None else at + 0.5
    return TracedRequest(request=request, sent=at, answer=answer, answered=answered, who=who)


def init(at: float, epoch: int | None, *, who: str = "a") -> TracedRequest:
    """InitProducerId; without an epoch it was not answered."""
    answer = None if epoch is None else ModelAnswer(producer_id=PRODUCER, epoch=epoch)
    return asked(InitProducerIdAsked(id=TID, version=4), at, answer, who=who)


def write(at: float, epoch: int, error: str | None = "NONE", *, sequence: int = 0) -> TracedRequest:
    """A client of the new protocol produces."""
    request = ProduceAsked(
        id=TID, version=12, partition="A", producer_id=PRODUCER, epoch=epoch, sequence=sequence
    )  # fmt: skip
    return asked(request, at, None if error is None else ModelAnswer(error))


def answered_late(one: TracedRequest) -> TracedRequest:
    """After what was sent behind it."""
    return replace(one, answered=one.sent + 5)


def end(at: float, epoch: int, error: str | None = "NONE", *, commit: bool = True) -> TracedRequest:
    """A client of the new protocol ends its transaction; the next epoch is in the answer."""
    request = EndTxnAsked(id=TID, version=5, producer_id=PRODUCER, epoch=epoch, commit=commit)
    told = ModelAnswer(producer_id=PRODUCER, epoch=epoch + 1) if error == "NONE" else ModelAnswer(error or "")
    return asked(request, at, None if error is None else told)


def verdict(*trace: TracedRequest, profile: ProtocolProfile = NEWEST, **limits: Any) -> TraceVerdict:
    """Of a trace by hand."""
    return check_trace(trace, profile, **limits)
