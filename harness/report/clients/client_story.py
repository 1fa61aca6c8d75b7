"""View models of what a client was asked, said and sent: its calls in order of time, its requests between them.

A request belongs to the call of its application during which it was sent; one that was sent while no call was under way
(a heartbeat, a retry in the background) stands between the calls.
"""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, TypeAlias

from harness.contract.expect import Finding
from harness.evidence.client_evidence import ClientCall, Frame
from harness.evidence.requirement_evidence import Evidence, Fault
from harness.report.clients.call_words import CallWords, call_words
from harness.report.clients.frame_lines import FrameLine, frame_lines
from harness.report.contract.steps import Span, span_of
from harness.report.shared.words import count, duration


@dataclass(frozen=True, slots=True, kw_only=True)
class CallView:
    """A call; ``left`` and ``width`` are percents of its chapter's stretch of time."""

    anchor: str
    name: str
    asked: str
    application: str
    began: str
    took: str
    left: float
    width: float
    said: CallWords
    frames: tuple[FrameLine, ...]
    anomalies: tuple[str, ...]
    kind: Literal["call"] = "call"


@dataclass(frozen=True, slots=True, kw_only=True)
class BetweenView:
    """What was sent between two calls."""

    frames: tuple[FrameLine, ...]
    kind: Literal["between"] = "between"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultNote:
    """A fault of ours, where it begins."""

    began: str
    text: str
    kind: Literal["fault"] = "fault"


StoryItem: TypeAlias = CallView | BetweenView | FaultNote


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """Calls whose names begin alike (``Produce 90: begin``); ``title`` is empty where a story has but one chapter."""

    title: str
    aside: str
    open: bool
    length: str
    items: tuple[StoryItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientStory:
    """All of it; ``summary`` counts what it holds."""

    summary: str
    chapters: tuple[Chapter, ...]


def story(requirement: str, evidence: Evidence, findings: Sequence[Finding]) -> ClientStory | None:
    """What the client said and sent, by chapters; None where the evidence is not about a client."""
    if not evidence.calls and not evidence.frames:
        return None
    whole, places = span_of(evidence), _anchors(requirement, evidence)
    calls, frames = count(len(evidence.calls), "call", "calls"), count(len(evidence.frames), "request", "requests")
    ordered = sorted(evidence.calls, key=lambda call: call.started)
    parts = [
        (title, list(some)) for title, some in groupby(_in_order(evidence), key=lambda each: _title(each, ordered))
    ]
    chapters = [_chapter(title, some, whole, places, findings) for title, some in parts]
    return ClientStory(
        summary=f"{calls} and {frames} in {duration(whole.end - whole.start)}",
        chapters=tuple(chapters if len(chapters) > 1 else [replace(each, title="", open=True) for each in chapters]),
    )


def names_in(finding: Finding, calls: Collection[str]) -> tuple[str, ...]:
    """The calls that a finding names: its steps, and those that its detail quotes in parentheses."""
    quoted = re.findall(r"\(([^()]+)\)", finding.detail)
    return tuple(name for name in dict.fromkeys((*finding.steps, *quoted)) if name in calls)


_Event: TypeAlias = tuple[float, ClientCall | Fault | None, tuple[Frame, ...]]


def _in_order(evidence: Evidence) -> list[_Event]:
    """Calls with their requests, faults, and requests between calls, by time."""
    left = list(evidence.frames)
    found: list[_Event] = []
    for call in evidence.calls:
        mine = tuple(frame for frame in left if _within(call, frame))
        left = [frame for frame in left if not _within(call, frame)]
        found.append((call.started, call, mine))
    found += [(fault.started, fault, ()) for fault in evidence.faults]
    found += [(frame.at, None, (frame,)) for frame in left]
    return sorted(found, key=lambda each: each[0])


def _within(call: ClientCall, frame: Frame) -> bool:
    return frame.client_id == call.application and call.started <= frame.at <= call.answered


def _title(event: _Event, ordered: Sequence[ClientCall]) -> str:
    """What a call's name has before its colon; of anything else that of the call before it, or after the first.

    :param ordered: All calls, by the time at which they began.
    """
    at, what, _ = event
    if isinstance(what, ClientCall):
        return _head(what.name)
    place = bisect_left(ordered, at, key=lambda call: call.started)
    past, coming = ordered[max(place - 1, 0) : place], ordered[place : place + 1]
    near = (*coming, *past) if isinstance(what, Fault) or not past else past
    return _head(near[0].name) if near else ""


def _head(name: str) -> str:
    return name.partition(": ")[0] if ": " in name else ""


def _chapter(
    title: str, events: Sequence[_Event], whole: Span, places: dict[int, str], findings: Sequence[Finding]
) -> Chapter:
    calls = [what for _, what, _ in events if isinstance(what, ClientCall)]
    ends = [at for at, _, _ in events] + [call.answered for call in calls]
    ends += [frame.answered or frame.at for _, _, frames in events for frame in frames]
    span = Span(start=min(ends), end=max(ends))
    items = tuple(_items(events, span, whole, places, findings))
    shows = list(dict.fromkeys(name for each in items if isinstance(each, CallView) for name in each.anomalies))
    refused = sum(not call.done for call in calls)
    aside = count(len(calls), "call", "calls") + (f", {refused} not done" if refused else "")
    return Chapter(
        title=title or "Around them",
        aside=", ".join([aside, *(f"shows {name}" for name in shows)]),
        open=bool(shows),
        length=duration(span.end - span.start),
        items=items,
    )


def _items(
    events: Sequence[_Event], span: Span, whole: Span, places: dict[int, str], findings: Sequence[Finding]
) -> Iterator[StoryItem]:
    for between, some in groupby(events, key=lambda event: event[1] is None):
        if between:
            yield BetweenView(frames=frame_lines([frame for _, _, own in some for frame in own], whole.start))
            continue
        for _, what, frames in some:
            if isinstance(what, Fault):
                yield _fault(what, whole)
            elif what is not None:
                yield _call(what, frames, span, whole, places[id(what)], findings)


def _call(
    call: ClientCall, frames: Sequence[Frame], span: Span, whole: Span, anchor: str, findings: Sequence[Finding]
) -> CallView:
    left = span.percent(call.started)
    return CallView(
        anchor=anchor,
        name=call.name,
        asked=call.call,
        application=call.application,
        began=duration(call.started - whole.start),
        took=duration(call.answered - call.started),
        left=left,
        width=round(span.percent(call.answered) - left, 3),
        said=call_words(call),
        frames=frame_lines(frames, whole.start),
        anomalies=tuple(dict.fromkeys(each.anomaly for each in findings if call.name in names_in(each, [call.name]))),
    )


def _fault(fault: Fault, whole: Span) -> FaultNote:
    if fault.kind == "gate":
        met = count(fault.seen, "such request", "such requests")
        text = f"the gate, for {duration(fault.ended - fault.started)}: {fault.name}"
        text += f" ({fault.action}; it took {fault.struck} of {met})"
    else:
        text = f"{fault.name}: {fault.kind} on {fault.where} for {duration(fault.ended - fault.started)}"
    return FaultNote(began=duration(fault.started - whole.start), text=text)


def _anchors(requirement: str, evidence: Evidence) -> dict[int, str]:
    return {id(call): f"{requirement}--call-{number}" for number, call in enumerate(evidence.calls, start=1)}
