"""Requests of a client on one line each: what was asked of whom, who answered, and with which errors."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from harness.base.kafka_error import error_name
from harness.evidence.client_evidence import Frame, ProducedBatch
from harness.report.shared.words import duration, pairs, short

QUIET = ("ApiVersions", "Metadata")
"""Requests with which every connection begins; those that were answered without an error share a line."""
FRAMES_SHOWN = 60
"""Lines of requests of one call; the evidence has them all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameLine:
    """One request, or several that are alike; ``quiet`` where nothing of it is of interest.

    :param code: None without an answer, else the first error code that is not 0, or 0.
    :param by: Who answered: ``broker``, ``gate``, or empty.
    """

    at: str
    call: str
    route: str
    fields: tuple[tuple[str, str], ...]
    outcome: str
    code: int | None
    by: str
    took: str
    answer: tuple[tuple[str, str], ...]
    times: int = 1
    quiet: bool = False


def frame_lines(frames: Sequence[Frame], start: float) -> tuple[FrameLine, ...]:
    """In the order in which they came to the gate; those that only open connections, and repetitions, on one line."""
    lines: list[FrameLine] = []
    for quiet, some in groupby(frames, key=_is_quiet):
        if quiet:
            lines.append(_quiet(list(some), start))
        else:
            lines += _folded([_line(frame, start) for frame in some])
    return (*lines[:FRAMES_SHOWN], *_rest(lines))


def errors_of(codes: Sequence[int]) -> str:
    """Error codes of an answer by name: ``NONE``, ``PRODUCER_FENCED``, ``NONE ×2, NOT_LEADER_OR_FOLLOWER ×1``."""
    found = Counter(codes)
    if len(found) <= 1:
        return error_name(next(iter(found), 0))
    return ", ".join(f"{error_name(code)} ×{number}" for code, number in found.items())


def _is_quiet(frame: Frame) -> bool:
    return frame.api in QUIET and bool(frame.answered_by) and not frame.error


def _quiet(frames: Sequence[Frame], start: float) -> FrameLine:
    found = Counter(f"{frame.api} v{frame.version}" for frame in frames)
    nodes = ", ".join(str(node) for node in sorted({frame.node for frame in frames}))
    return FrameLine(
        at=duration(frames[0].at - start),
        call=", ".join(f"{call} ×{number}" if number > 1 else call for call, number in found.items()),
        route=f"{', '.join(dict.fromkeys(frame.client_id for frame in frames))} → node {nodes}",
        fields=(),
        outcome="answered, changed by the gate" if any(frame.answered_by == "gate" for frame in frames) else "answered",
        code=0,
        by="broker",
        took="",
        answer=(),
        quiet=True,
    )


def _line(frame: Frame, start: float) -> FrameLine:
    answered = frame.answered is not None
    return FrameLine(
        at=duration(frame.at - start),
        call=f"{frame.api} v{frame.version}",
        route=f"{frame.client_id} → node {frame.node}",
        fields=tuple(_fields(frame)),
        outcome=errors_of(frame.errors) if answered else "no answer",
        code=frame.error,
        by=frame.answered_by if answered else "",
        took="" if frame.answered is None else duration(frame.answered - frame.at),
        answer=pairs(frame.answer),
    )


def _fields(frame: Frame) -> Iterator[tuple[str, str]]:
    for batch in frame.batches:
        yield batch.topic, _batch(batch)
    identity = (frame.producer_id, frame.epoch)
    if not frame.batches and frame.producer_id is not None and identity != (-1, -1):
        yield "producer", f"{frame.producer_id} epoch {frame.epoch}"
    hidden = {"producer_id", "producer_epoch", "transactional_id"}
    asked = {name: value for name, value in frame.request.items() if name not in hidden and value not in ([], {})}
    yield from ((name, short(value, 120)) for name, value in pairs(asked))


def _batch(batch: ProducedBatch) -> str:
    """``producer 1001 epoch 0, sequences 3–4``; a producer without an id has no sequences."""
    if batch.producer_id < 0:
        return f"{batch.count} records without a producer id"
    last = batch.base_sequence + batch.count - 1
    numbers = f"sequence {last}" if batch.count == 1 else f"sequences {batch.base_sequence}–{last}"
    aside = "" if batch.transactional else ", not transactional"
    return f"producer {batch.producer_id} epoch {batch.epoch}, {numbers}{aside}"


def _folded(lines: Sequence[FrameLine]) -> Iterator[FrameLine]:
    """Neighbours that differ in their times only are one line."""
    for _, some in groupby(lines, key=lambda line: replace(line, at="", took="")):
        alike = list(some)
        yield replace(alike[0], times=len(alike))


def _rest(lines: Sequence[FrameLine]) -> Iterator[FrameLine]:
    if len(lines) > FRAMES_SHOWN:
        rest = sum(line.times for line in lines[FRAMES_SHOWN:])
        yield replace(lines[FRAMES_SHOWN], call=f"and {rest} more requests", fields=(), answer=(), times=1, quiet=True)
