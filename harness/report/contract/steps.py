"""View models of exchanges: a requirement's named steps on one time axis, and the unnamed exchanges around them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.base.json_value import Json
from harness.base.kafka_error import error_name
from harness.contract.expect import Finding
from harness.evidence.exchange import Exchange
from harness.evidence.requirement_evidence import TOOL, Evidence, Fault, Step
from harness.report.shared.words import duration, letter, pairs, short

UNNAMED_SHOWN = 30
"""Unnamed exchanges of one requirement that the page shows; the rest is only counted; the journal has them all."""

MESSAGE_SHOWN = 2400
"""Characters of a whole request or answer that the page shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The stretch of the run's clock that a requirement took, in milliseconds."""

    start: float
    end: float

    def percent(self, at: float) -> float:
        """Where ``at`` lies on the stretch, 0 to 100."""
        length = self.end - self.start
        return round(min(max((at - self.start) / length, 0.0), 1.0) * 100, 3) if length > 0 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A fault's window as a band behind bars: left edge and width in percent of the span."""

    letter: str
    name: str
    kind: str
    where: str
    left: float
    width: float
    lasted: str
    began: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A whole request or answer as JSON text, and how many characters of it were left out."""

    title: str
    text: str
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepView:
    """A named step as the page shows it; ``left``, ``width`` and ``held_width`` are percents of the span."""

    anchor: str
    name: str
    call: str
    route: str
    began: str
    took: str
    held: str
    tries: int
    outcome: str
    code: int | None
    request: tuple[tuple[str, str], ...]
    answer: tuple[tuple[str, str], ...]
    left: float
    width: float
    held_width: float
    anomalies: tuple[str, ...]
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeView:
    """An exchange that no step names, on one line."""

    call: str
    route: str
    began: str
    took: str
    outcome: str
    code: int | None


def span_of(evidence: Evidence) -> Span:
    """From the first to the last moment that the evidence knows."""
    moments = [
        moment
        for step in evidence.steps
        for moment in (step.sent, step.sent if step.answered is None else step.answered)
    ]
    moments += [moment for fault in evidence.faults for moment in (fault.started, fault.ended)]
    moments += [sample.at for sample in evidence.samples]
    moments += [moment for call in evidence.calls for moment in (call.started, call.answered)]
    moments += [moment for sent in evidence.frames for moment in (sent.at, sent.answered or sent.at)]
    return Span(start=min(moments, default=0.0), end=max(moments, default=0.0))


def bands(faults: Sequence[Fault], span: Span) -> tuple[Band, ...]:
    """The faults as bands lettered A, B, C in order of start."""
    return tuple(_band(letter(i), fault, span) for i, fault in enumerate(sorted(faults, key=lambda f: f.started)))


def steps(
    requirement: str,
    evidence: Evidence,
    findings: Sequence[Finding],
    exchanges: Mapping[int, Exchange],
    span: Span,
) -> tuple[StepView, ...]:
    """Every named step in order of sending; those that show an anomaly carry its name."""
    ordered = sorted(evidence.steps, key=lambda step: step.sent)
    return tuple(
        _step(f"{requirement}--{number}", step, _anomalies(step, findings), exchanges.get(step.exchange), span)
        for number, step in enumerate(ordered, start=1)
    )


def unnamed(
    exchanges: Sequence[Exchange], evidence: Evidence | None, span: Span
) -> tuple[tuple[ExchangeView, ...], int]:
    """The first unnamed exchanges of a requirement in order of sending, and how many there are in all."""
    named = {step.exchange for step in evidence.steps} if evidence else set()
    rest = sorted((found for found in exchanges if found.number not in named), key=lambda found: found.sent)
    return tuple(_exchange(found, span) for found in rest[:UNNAMED_SHOWN]), len(rest)


def error_of(answer: Json) -> int | None:
    """The first error code of an answer that is not 0, wherever it is nested; 0 when all are; None when it has none."""
    codes = list(_codes(answer))
    return next((code for code in codes if code), 0) if codes else None


def _band(name: str, fault: Fault, span: Span) -> Band:
    left = span.percent(fault.started)
    return Band(
        letter=name,
        name=fault.name,
        kind=fault.kind,
        where=fault.where,
        left=left,
        width=round(span.percent(fault.ended) - left, 3),
        lasted=duration(fault.ended - fault.started),
        began=duration(fault.started - span.start),
    )


def _step(anchor: str, step: Step, anomalies: tuple[str, ...], exchange: Exchange | None, span: Span) -> StepView:
    ended = span.end if step.answered is None else step.answered
    left = span.percent(step.sent)
    return StepView(
        anchor=anchor,
        name=step.name,
        call=step.call,
        route=f"{step.actor} → node {step.node}",
        began=duration(step.sent - span.start),
        took="no answer" if step.answered is None else duration(step.answered - step.sent),
        held=duration(step.held) if step.held else "",
        tries=step.tries,
        outcome=step.outcome(step.error) if step.version == TOOL else error_name(step.error),
        code=step.error,
        request=pairs(step.request),
        answer=pairs(step.fields),
        left=left,
        width=round(span.percent(ended) - left, 3),
        held_width=round(span.percent(min(step.sent + step.held, ended)) - left, 3) if step.held else 0.0,
        anomalies=anomalies,
        messages=_messages(exchange) if exchange else (),
    )


def _anomalies(step: Step, findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(finding.anomaly for finding in findings if step.name in finding.steps))


def _messages(exchange: Exchange) -> tuple[Message, ...]:
    messages = [_message("request", exchange.request)]
    if exchange.answer is not None:
        messages.append(_message("answer", exchange.answer))
    return tuple(messages)


def _message(title: str, content: Mapping[str, Json]) -> Message:
    text = json.dumps(content, indent=1, ensure_ascii=False, default=dict)
    return Message(title=title, text=text[:MESSAGE_SHOWN], left_out=max(len(text) - MESSAGE_SHOWN, 0))


def _exchange(exchange: Exchange, span: Span) -> ExchangeView:
    code = error_of(dict(exchange.answer)) if exchange.answer is not None else None
    return ExchangeView(
        call=f"{exchange.api} v{exchange.version}",
        route=f"{exchange.actor}, {exchange.lane} lane → node {exchange.node}",
        began=duration(exchange.sent - span.start),
        took="" if exchange.answered is None else duration(exchange.answered - exchange.sent),
        outcome=_outcome(exchange, code),
        code=code,
    )


def _outcome(exchange: Exchange, code: int | None) -> str:
    if exchange.failure:
        return short(exchange.failure, 120)
    if exchange.answer is None:
        return "no answer"
    return "answered" if code is None else error_name(code)


def _codes(answer: Json) -> list[int]:
    match answer:
        case dict():
            own = [code for name, code in answer.items() if name.endswith("error_code") and isinstance(code, int)]
            return own + [code for nested in answer.values() for code in _codes(nested)]
        case list():
            return [code for nested in answer for code in _codes(nested)]
        case _:
            return []
