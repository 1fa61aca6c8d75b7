"""What a check yields: a witness for each situation it really examined, a finding for each broken promise.

A check is a generator over these helpers, so that it reads as a list of expectations. Every helper yields exactly one
observation; a check that yields none has examined nothing, and its verdict is NOT_EXERCISED.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from harness.base.json_value import Json
from harness.base.kafka_error import error_name
from harness.evidence.requirement_evidence import Evidence, Fault, NotSeen, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A situation that was examined and found as promised."""

    what: str
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A broken promise: the anomaly's name, a sentence with what was seen, and the steps that show it."""

    anomaly: str
    detail: str
    steps: tuple[str, ...] = ()


Observation: TypeAlias = Witness | Finding


def witness(what: str, *steps: Step) -> Witness:
    """A situation examined and found as promised."""
    return Witness(what=what, steps=tuple(step.name for step in steps))


def finding(anomaly: str, detail: str, *steps: Step) -> Finding:
    """A broken promise that the steps show."""
    return Finding(anomaly=anomaly, detail=detail, steps=tuple(step.name for step in steps))


def refused(step: Step, *codes: int, otherwise: str, message: str | None = None) -> Observation:
    """The step must be refused with one of ``codes`` (and, where given, this error message or its end).

    Success is the anomaly ``otherwise``; no answer is ``unanswered``; another code is ``wrong-error``; another message
    is ``wrong-message``.
    """
    if step.error == 0:
        return finding(otherwise, f"{_said(step)}; expected {_names(codes)}", step)
    if step.error is None:
        return finding("unanswered", f"{_said(step)}; expected {_names(codes)}", step)
    if step.error not in codes:
        return finding("wrong-error", f"{_said(step)}; expected {_names(codes)}", step)
    said = str(step.fields.get("error_message") or "")
    if message is not None and not said.endswith(message):
        return finding("wrong-message", f"{_said(step)} with message {said!r}; expected {message!r}", step)
    return witness(_said(step), step)


def accepted(step: Step, *, otherwise: str) -> Observation:
    """The step must succeed with error 0; anything else is the anomaly ``otherwise``."""
    if step.error == 0:
        return witness(_said(step), step)
    return finding(otherwise, f"{_said(step)}; expected success", step)


def agree(what: str, seen: object, promised: object, *steps: Step, otherwise: str) -> Observation:
    """The value seen must equal the value promised; else the anomaly ``otherwise``."""
    if seen == promised:
        return witness(f"{what} is {promised!r}", *steps)
    return finding(otherwise, f"{what} is {seen!r}; expected {promised!r}", *steps)


def shows(step: Step, *, otherwise: str, **promised: Json) -> Observation:
    """The named fields of the answer must have these values; else the anomaly ``otherwise``."""
    seen = {name: step.fields.get(name) for name in promised}
    return agree(f"{step.name}: {step.api} v{step.version} shows", seen, promised, step, otherwise=otherwise)


def unless(kept: bool, what: str, *steps: Step, otherwise: str) -> Observation:
    """The sentence ``what`` must be true of the evidence; else the anomaly ``otherwise``."""
    return witness(what, *steps) if kept else finding(otherwise, f"not so: {what}", *steps)


def row(step: Step, field: str, **keys: Json) -> Mapping[str, Json]:
    """The row of the answer's list ``field`` that has these keys (a producer, a transaction); {} when there is none."""
    rows = step.fields.get(field)
    fitting = (one for one in (rows if isinstance(rows, list) else ()) if isinstance(one, dict))
    return next((one for one in fitting if keys.items() <= one.items()), {})


def struck(seen: Evidence, late: Step, by: str) -> Fault:
    """The hold called ``by`` really held ``late``: sent into the window, answered only after the release.

    :raises NotSeen: When it did not; a fault that did not strike proves nothing, so the verdict is NOT_EXERCISED.
    """
    hold = seen.fault(by)
    if late.held <= 0 or late.sent > hold.ended:
        raise NotSeen(f"{late.name!r} was not held by {by!r}")
    if late.answered is not None and late.answered < hold.ended:
        raise NotSeen(f"{late.name!r} was answered while {by!r} was still held")
    return hold


def _said(step: Step) -> str:
    answer = "gave no answer" if step.error is None else f"answered {error_name(step.error)} ({step.error})"
    return f"{step.name}: {step.api} v{step.version} {answer}"


def _names(codes: tuple[int, ...]) -> str:
    return " or ".join(f"{error_name(code)} ({code})" for code in codes)
