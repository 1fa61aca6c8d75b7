"""A partition's high watermark and last stable offset over time, as SVG text with the faults' windows as bands.

Colours and fonts come from the page's style sheet by class, so that one picture serves light and dark. Every number
in it stands in the table below it too; the picture is never the only witness.
"""

import math
from collections.abc import Sequence
from html import escape

from harness.evidence.requirement_evidence import Sample
from harness.report.contract.steps import Band, Span
from harness.report.shared.offset_lines import Point, kept_apart, path, round_step, staircase
from harness.report.shared.words import duration

WIDTH, HEIGHT = 720, 210
LEFT, RIGHT, TOP, BOTTOM = 52, 108, 32, 36  # room for the labels around the plot
APART = 22  # units that two labels at the right end need between them


def lso_picture(partition: str, samples: Sequence[Sample], faults: Sequence[Band], span: Span) -> str:
    """The picture of one partition; samples need not be in order. Empty without samples."""
    ordered = sorted(samples, key=lambda sample: sample.at)
    if not ordered:
        return ""
    low, high = _range(ordered)
    parts = (
        *_bands(faults),
        *_offset_axis(low, high),
        *_time_axis(span),
        _gap(ordered, span, low, high),
        _line("hw", [(s.at, s.high_watermark) for s in ordered], span, low, high),
        _line("lso", [(s.at, s.last_stable_offset) for s in ordered], span, low, high),
        *_dots(ordered, span, low, high),
        *_ends(ordered[-1], span, low, high),
    )
    alternative = escape(description(partition, ordered))
    head = f'<svg class="picture" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{alternative}">'
    return "".join((head, *parts, "</svg>"))


def description(partition: str, samples: Sequence[Sample]) -> str:
    """The picture in one sentence."""
    last, widest = samples[-1], max(sample.high_watermark - sample.last_stable_offset for sample in samples)
    end = f"ends at high watermark {last.high_watermark} and last stable offset {last.last_stable_offset}"
    return f"{partition} {end}; the gap between them was {widest} at its widest."


def _range(samples: Sequence[Sample]) -> tuple[int, int]:
    low = min(min(s.last_stable_offset, s.high_watermark) for s in samples)
    high = max(max(s.last_stable_offset, s.high_watermark) for s in samples)
    return low, max(high, low + 1)


def _x(at: float, span: Span) -> float:
    return round(LEFT + span.percent(at) / 100 * (WIDTH - LEFT - RIGHT), 1)


def _y(offset: float, low: int, high: int) -> float:
    return round(HEIGHT - BOTTOM - (offset - low) / (high - low) * (HEIGHT - TOP - BOTTOM), 1)


def _bands(faults: Sequence[Band]) -> list[str]:
    drawn, plot, free = [], (WIDTH - LEFT - RIGHT) / 100, 0.0
    for fault in faults:
        left, width = round(LEFT + fault.left * plot, 1), round(max(fault.width * plot, 2), 1)
        drawn.append(f'<rect class="fault" x="{left}" y="{TOP}" width="{width}" height="{HEIGHT - TOP - BOTTOM}"/>')
        drawn.append(f'<text class="letter" x="{max(left, free):g}" y="{TOP - 8}">{escape(fault.letter)}</text>')
        free = max(left, free) + APART
    return drawn


def _offset_axis(low: int, high: int) -> list[str]:
    drawn = []
    for offset in range(low, high + 1, max(1, math.ceil((high - low) / 4))):
        y = _y(offset, low, high)
        drawn.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>')
        drawn.append(f'<text class="tick offset" x="{LEFT - 8}" y="{y + 4}">{offset}</text>')
    return drawn


def _time_axis(span: Span) -> list[str]:
    pace = round_step((span.end - span.start) / 4)
    ticks = int((span.end - span.start) // pace) + 1
    y = HEIGHT - 8
    return [
        f'<text class="tick" x="{_x(span.start + i * pace, span)}" y="{y}">{duration(i * pace)}</text>'
        for i in range(ticks)
    ]


def _line(name: str, points: Sequence[tuple[float, int]], span: Span, low: int, high: int) -> str:
    return f'<polyline class="{name}" points="{path(_corners(points, span, low, high))}"/>'


def _corners(points: Sequence[tuple[float, int]], span: Span, low: int, high: int) -> list[Point]:
    return staircase([(_x(at, span), _y(offset, low, high)) for at, offset in points])


def _gap(samples: Sequence[Sample], span: Span, low: int, high: int) -> str:
    above = _corners([(s.at, s.high_watermark) for s in samples], span, low, high)
    below = _corners([(s.at, s.last_stable_offset) for s in samples], span, low, high)
    return f'<polygon class="gap" points="{path([*above, *reversed(below)])}"/>'


def _dots(samples: Sequence[Sample], span: Span, low: int, high: int) -> list[str]:
    return [
        f'<circle class="dot" cx="{_x(s.at, span)}" cy="{_y(s.last_stable_offset, low, high)}" r="4">'
        f"<title>{escape(s.name)}</title></circle>"
        for s in samples
        if s.name
    ]


def _ends(last: Sample, span: Span, low: int, high: int) -> list[str]:
    x = _x(last.at, span) + 8
    upper, lower = _y(last.high_watermark, low, high), _y(last.last_stable_offset, low, high)
    upper, lower = kept_apart(upper, lower, APART)
    return [
        f'<text class="end hw-name" x="{x:g}" y="{upper + 4:g}">HW {last.high_watermark}</text>',
        f'<text class="end lso-name" x="{x:g}" y="{lower + 4:g}">LSO {last.last_stable_offset}</text>',
    ]
