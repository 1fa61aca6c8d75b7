"""The upper strips of the timeline: phases, faults packed into rows, and a lane a role with its actors' operations."""

import dataclasses
from collections.abc import Collection, Mapping, Sequence

from harness.base.json_value import Json
from harness.evidence.history.judgement import Judgement
from harness.evidence.history.operation import FaultWindow, Outcome, Phase
from harness.evidence.history.timeline import ActorSpan, Timeline, TimelineOperation, role_of
from harness.evidence.json_codec import Malformed, from_plain
from harness.report.chaos.anomaly_words import answered, moment_of, tail
from harness.report.chaos.scale import LEFT, RIGHT, WIDTH, Scale, block, clean, label, line
from harness.report.shared.words import count, duration, letter

PHASE_HEIGHT, ROW, LANE = 18, 18, 21
ROWS_SHOWN, LANES_SHOWN = 12, 40
LETTER = 7.1
"""Units that a character of a label takes, roughly."""


def phases(scale: Scale, found: Sequence[Phase], y: float) -> list[str]:
    """One strip: each phase a block with its name where there is room for it."""
    drawn = []
    for phase in found:
        x, width = scale.x(phase.started), scale.width(phase.started, phase.ended)
        title = f"{phase.name}: {moment_of(phase.started, scale.started)}, {duration(phase.ended - phase.started)}"
        drawn.append(block(x, y, width, PHASE_HEIGHT, f"phase p-{_slug(phase.name)}", title))
        if width > len(phase.name) * LETTER + 6:
            drawn.append(label(x + 5, y + 13, phase.name, "phasename", title))
    return drawn


def fault_rows(scale: Scale, faults: Sequence[FaultWindow]) -> list[int]:
    """The row of each fault: the first in which neither its bar nor its name lies over another's."""
    free: list[float] = []
    rows = []
    for place, fault in enumerate(faults):
        left, right = _extent(scale, place, fault)
        row = next((row for row, end in enumerate(free) if end + 6 <= left), len(free))
        free[row : row + 1] = [right]
        rows.append(row)
    return rows


def fault_bars(scale: Scale, faults: Sequence[FaultWindow], y: float) -> list[str]:
    """Every fault as a bar with its letter and name; hollow and crossed out where it did not strike."""
    drawn = []
    for place, (fault, row) in enumerate(zip(faults, fault_rows(scale, faults), strict=True)):
        if row >= ROWS_SHOWN:
            continue
        top, x, width = y + row * ROW, scale.x(fault.started), scale.width(fault.started, fault.ended, 3)
        kind, title = "blow" if fault.struck else "blow missed", _fault_title(scale, fault)
        drawn.append(block(x, top + 3, width, ROW - 6, kind, title))
        before = _extent(scale, place, fault)[0] < x
        where, anchor = (x - 5, " before") if before else (x + width + 5, "")
        drawn.append(label(where, top + 13, _name(place, fault), f"{kind} word{anchor}", title))
    return drawn


def fault_bands(scale: Scale, faults: Sequence[FaultWindow], top: float, bottom: float) -> list[str]:
    """Every fault as a band behind the strips below."""
    return [
        block(
            scale.x(fault.started),
            top,
            scale.width(fault.started, fault.ended, 2),
            bottom - top,
            "band" if fault.struck else "band missed",
            _fault_title(scale, fault),
        )
        for fault in faults
    ]


def roles(timeline: Timeline) -> tuple[list[str], int]:
    """The roles that get a lane, by name, and how many get none: those with the fewest
    operations that were refused or unsure are left out first."""
    by_role: dict[str, tuple[int, int]] = {}
    for span in timeline.actors:
        not_done, all_of = by_role.get(span.role, (0, 0))
        by_role[span.role] = (not_done + span.refused + span.unsure, all_of + span.operations)
    worst = sorted(by_role, key=lambda role: by_role[role], reverse=True)[:LANES_SHOWN]
    return sorted(worst, key=_natural), len(by_role) - len(worst)


def lanes(
    scale: Scale, timeline: Timeline, shown: Sequence[str], marked: Collection[TimelineOperation], y: float
) -> list[str]:
    """A lane a role: a line while one of its actors runs, a mark where a successor begins, operations."""
    places = {role: y + place * LANE for place, role in enumerate(shown)}
    drawn = [label(LEFT - 10, top + 14, tail(role, 17), "name", role) for role, top in places.items()]
    for span in timeline.actors:
        if span.role in places:
            drawn += _actor_line(scale, span, places[span.role])
    rest = [each for each in timeline.drawn if each.number not in {one.number for one in marked}]
    for each in sorted(rest, key=_weight):
        if role_of(each.actor) in places:
            drawn.append(_operation(scale, each, places[role_of(each.actor)], _kind(each)))
    for each in marked:
        if role_of(each.actor) in places:
            drawn += _marked(scale, each, places[role_of(each.actor)])
    return drawn


def operations_of_findings(judgement: Judgement | None, timeline: Timeline) -> list[TimelineOperation]:
    """The operations that findings point at: as the timeline drew them, else out of the findings' neighbourhoods."""
    findings = [found for check in (judgement.checks if judgement else ()) for found in check.findings]
    numbers = {number for found in findings for number in found.operations}
    drawn = {each.number: each for each in timeline.drawn if each.number in numbers}
    for row in (row for found in findings for row in found.around.operations):
        if row.get("number") in numbers - drawn.keys() and (read := _of_row(row)) is not None:
            drawn[read.number] = read
    return [drawn[number] for number in sorted(drawn)]


def _of_row(row: Mapping[str, Json]) -> TimelineOperation | None:
    """An operation's row as the picture needs it; None where it lacks what it takes."""
    fields = {field.name for field in dataclasses.fields(TimelineOperation)} & row.keys()
    place = None if row.get("topic") is None else f"{row.get('topic')}-{row.get('partition')}"
    try:
        return from_plain(TimelineOperation, {**{name: row[name] for name in fields}, "place": place})
    except Malformed:
        return None


def _actor_line(scale: Scale, span: ActorSpan, top: float) -> list[str]:
    middle, x = top + LANE / 2, scale.x(span.started)
    operations = count(span.operations, "operation", "operations")
    title = f"{span.actor} ({span.client}): {operations}, {span.refused} refused, {span.unsure} unsure"
    drawn = [line(x, middle, scale.x(span.ended), middle, "presence", title)]
    if span.actor != span.role:
        drawn.append(line(x, top + 2, x, top + LANE - 2, "enters", f"{span.actor} takes over"))
    return drawn


def _operation(scale: Scale, each: TimelineOperation, top: float, kind: str) -> str:
    title = _operation_title(scale, each)
    return block(scale.x(each.started), top + 5, scale.width(each.started, each.ended), LANE - 10, kind, title)


def _marked(scale: Scale, each: TimelineOperation, top: float) -> list[str]:
    x, width = scale.x(each.started), scale.width(each.started, each.ended, 4)
    title = f"shows a finding: {_operation_title(scale, each)}"
    middle = x + width / 2
    flag = f'<path class="flag" d="M{middle - 5:g} {top - 4:g}h10l-5 8z"><title>{clean(title)}</title></path>'
    return [block(x, top + 5, width, LANE - 10, f"{_kind(each)} accused", title), flag]


def _operation_title(scale: Scale, each: TimelineOperation) -> str:
    txn = "" if each.txn is None else f" of transaction {each.txn}"
    place = "" if each.place is None else f" at {each.place}" + ("" if each.offset is None else f"@{each.offset}")
    outcome = answered(each.outcome.value, each.error, each.reason)
    when = f"{moment_of(each.started, scale.started)}, took {duration(each.ended - each.started)}"
    return f"#{each.number} {each.actor}: {each.verb}{txn}{place}: {outcome}; {when}"


def _fault_title(scale: Scale, fault: FaultWindow) -> str:
    struck = f"struck {fault.struck:,}: {fault.how}" if fault.struck else "did not strike"
    when = f"{moment_of(fault.started, scale.started)} for {duration(fault.ended - fault.started)}"
    return f"{fault.name} on {fault.where}, {when}; {struck}"


def _name(place: int, fault: FaultWindow) -> str:
    return f"{letter(place)} {tail(fault.name, 24)}" + ("" if fault.struck else ": did not strike")


def _extent(scale: Scale, place: int, fault: FaultWindow) -> tuple[float, float]:
    x, end = scale.x(fault.started), scale.x(fault.started) + scale.width(fault.started, fault.ended, 3)
    words = len(_name(place, fault)) * LETTER + 8
    return (x - words, end) if end + words > WIDTH - RIGHT + 60 else (x, end + words)


def _kind(each: TimelineOperation) -> str:
    if each.outcome is Outcome.DONE:
        return {"commit": "op committed", "abort": "op aborted"}.get(each.verb, "op done")
    return f"op {each.outcome.value}"


def _weight(each: TimelineOperation) -> int:
    order = ("op done", "op aborted", "op committed", "op refused", "op unsure")
    return order.index(_kind(each))


def _natural(role: str) -> tuple[str, int, str]:
    head = role.rstrip("0123456789")
    return head, int(role[len(head) :][:18] or 0), role


def _slug(name: str) -> str:
    return name if name in ("calm", "storm", "heal", "settle") else "other"
