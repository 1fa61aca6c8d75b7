"""The time axis that every strip of the timeline shares, and the pieces of SVG that they are made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from harness.report.shared.offset_lines import round_step
from harness.report.shared.words import duration, printable

WIDTH, LEFT, RIGHT = 1_180, 136, 92
"""Of the whole picture, in its own units; names are on the left, last values on the right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Run-clock milliseconds to units across the picture."""

    started: float
    ended: float

    def x(self, at: float) -> float:
        """Where a moment lies, inside the plot."""
        length = max(self.ended - self.started, 1e-9)
        share = min(max((at - self.started) / length, 0.0), 1.0)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def width(self, started: float, ended: float, least: float = 1.5) -> float:
        """How wide a stretch is; never nothing."""
        return round(max(self.x(ended) - self.x(started), least), 1)

    def ticks(self) -> Sequence[float]:
        """Round moments, some ten of them."""
        pace = round_step((self.ended - self.started) / 12)
        return [self.started + place * pace for place in range(int((self.ended - self.started) // pace) + 1)]


def clean(text: str) -> str:
    return escape(printable(text))


def label(x: float, y: float, text: str, kind: str, title: str = "") -> str:
    title_tag = f"<title>{clean(title)}</title>" if title else ""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{clean(text)}{title_tag}</text>'


def block(x: float, y: float, width: float, height: float, kind: str, title: str = "") -> str:
    """A rectangle; ``title`` is shown on pointing."""
    place = f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return f"{place}><title>{clean(title)}</title></rect>" if title else f"{place}/>"


def line(x1: float, y1: float, x2: float, y2: float, kind: str, title: str = "") -> str:
    place = f'<line class="{kind}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"'
    return f"{place}><title>{clean(title)}</title></line>" if title else f"{place}/>"


def axis(scale: Scale, top: float, bottom: float) -> list[str]:
    """Lines at round moments from top to bottom, and the moments below."""
    drawn = []
    for at in scale.ticks():
        x = scale.x(at)
        drawn += [line(x, top, x, bottom, "grid"), label(x, bottom + 15, duration(at - scale.started), "tick")]
    return drawn
