"""A transaction's end that the coordinator decided, or did not, and whose answer the application waits for."""

from typing import Literal, TypeAlias

from harness.contract import NotSeen, Observations, habit, unless
from harness.contract.clients.client_expect import all_said, during, said, told
from harness.evidence.client_evidence import ClientCall
from harness.evidence.requirement_evidence import Evidence

Ending: TypeAlias = Literal["commit", "abort"]


def really_ended(seen: Evidence, call: ClientCall) -> Observations:
    """An end is done only when a coordinator said so; else ``done-without-an-answer``.

    Not seen where every EndTxn of the call was answered, or there was nothing to ask for.
    """
    ends = during(seen, call, "EndTxn")
    unasked = not ends and call.done and _has_written(seen, call)
    if not unasked and all(frame.answered is not None for frame in ends):
        raise NotSeen(f"no EndTxn of {call.name!r} was lost")
    answers = [frame.error for frame in ends]
    so = not call.done or 0 in answers
    yield unless(so, f"{told(call)}; coordinators answered {answers}", otherwise="done-without-an-answer")


def _has_written(seen: Evidence, end: ClientCall) -> bool:
    """Whether the record before the end was written, so that a coordinator has to be asked."""
    wrote = [call for call in seen.calls if call.application == end.application and call.started < end.started]
    return any(call.call == "produce" and call.done for call in wrote[-1:])


def finds_out(seen: Evidence, step: str, *values: str) -> Observations:
    """What is committed is not told to be refused; that the call or its repetition says it at last is Java's way.

    Anomalies: ``committed-and-refused``, ``never-told``.
    """
    calls = (said(seen, step), *all_said(seen, f"{step} again"))
    shown = [value for log in seen.logs.values() for value in log.committed if value in values]
    done, refused = any(call.done for call in calls), all(call.outcome == "refused" for call in calls)
    wrong = refused and bool(shown)
    yield unless(not wrong, f"{told(calls[0])}; shown are {shown}", otherwise="committed-and-refused")
    yield habit(unless(done or wrong, f"{told(calls[-1])}; shown are {shown}", otherwise="never-told"))
