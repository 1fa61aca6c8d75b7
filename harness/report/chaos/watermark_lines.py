"""The lower strips of the timeline: high watermark and last stable offset a partition, and throughput."""

from collections.abc import Callable, Sequence

from harness.evidence.history.timeline import Throughput, Timeline, WatermarkLine, WatermarkPoint
from harness.report.chaos.anomaly_words import moment_of, tail
from harness.report.chaos.scale import LEFT, RIGHT, WIDTH, Scale, block, clean, label, line
from harness.report.shared.offset_lines import kept_apart, path, staircase
from harness.report.shared.words import count, duration

PARTITIONS_SHOWN, LEVEL, PACE = 12, 58, 44
APART = 15
"""Units that two words at the right end need between them."""


def shown_partitions(timeline: Timeline) -> list[WatermarkLine]:
    """The partitions that get a strip: those whose last stable offset is behind first, then by name."""
    worst = sorted(timeline.levels, key=lambda each: (-each.last_stable_offset_lag, each.topic, each.partition))[
        :PARTITIONS_SHOWN
    ]
    return sorted(worst, key=lambda each: (each.topic, each.partition))


def plain_names(lines: Sequence[WatermarkLine]) -> list[str]:
    """The partitions without what all their topics' names begin with: ``…accounts-0`` for ``fp-8128-accounts-0``."""
    parts = [each.topic.split("-") for each in lines]
    shortest = min((len(part) for part in parts), default=1)
    shared = next((at for at in range(shortest) if len({part[at] for part in parts}) > 1), shortest)
    cut = min(shared, shortest - 1)
    return [
        ("…" if cut else "") + f"{'-'.join(part[cut:])}-{each.partition}"
        for part, each in zip(parts, lines, strict=True)
    ]


def levels(scale: Scale, each: WatermarkLine, plain: str, y: float) -> list[str]:
    """One partition: both levels as staircases, the gap between them shaded, the last values on the right."""
    points = [*each.points, *([each.end] if each.end else [])]
    if not points:
        return []
    low, high = points[0].last_stable_offset, max(point.high_watermark for point in points)
    low = min(low, *(point.last_stable_offset for point in points))

    def at(offset: int) -> float:
        return round(y + LEVEL - 6 - (offset - low) / max(high - low, 1) * (LEVEL - 12), 1)

    upper = staircase([(scale.x(point.at), at(point.high_watermark)) for point in points])
    lower = staircase([(scale.x(point.at), at(point.last_stable_offset)) for point in points])
    stuck = " stuck" if each.last_stable_offset_lag > 0 else ""
    name = f"{each.topic}-{each.partition}"
    return [
        f"<g><title>{clean(_description(scale, name, each, points))}</title>",
        block(LEFT, y, WIDTH - LEFT - RIGHT, LEVEL, "hit"),
        f'<polygon class="gap" points="{path([*upper, *reversed(lower)])}"/>',
        f'<polyline class="hw" points="{path(upper)}"/><polyline class="lso" points="{path(lower)}"/>',
        f'<polyline class="lso stuck" points="{path(lower[-2:])}"/></g>' if stuck else "</g>",
        line(LEFT, y + LEVEL, WIDTH - RIGHT, y + LEVEL, "rule"),
        label(LEFT - 10, y + LEVEL / 2 + 4, tail(plain, 17), f"name{stuck}", name),
        *_ends(points[-1], upper[-1][1], lower[-1][1], stuck),
    ]


def pace(scale: Scale, timeline: Timeline, y: float, what: str, number: Callable[[Throughput], int]) -> list[str]:
    """How much ended in each stretch, as bars; the highest as a number on the right, per second."""
    most = max((number(each) for each in timeline.paces), default=0)
    per_second = 1_000 / max(timeline.stretch_ms, 1e-9)
    drawn = [
        label(LEFT - 10, y + PACE / 2 + 4, what, "name"),
        label(WIDTH - RIGHT + 8, y + 14, f"≤ {most * per_second:,.0f}/s", "end"),
        line(LEFT, y + PACE, WIDTH - RIGHT, y + PACE, "rule"),
    ]
    for each in timeline.paces:
        height = round(number(each) / max(most, 1) * (PACE - 6), 1)
        end = min(each.at + timeline.stretch_ms, timeline.ended)
        title = f"{moment_of(each.at, scale.started)}: {count(number(each), what.removesuffix('s'), what)}"
        width = max(scale.width(each.at, end) - 1.5, 1)
        drawn.append(block(scale.x(each.at), y + PACE - height, width, height, f"pace {what}", title))
    return drawn


def _ends(last: WatermarkPoint, upper: float, lower: float, stuck: str) -> list[str]:
    x, (upper, lower) = WIDTH - RIGHT + 8, kept_apart(upper, lower, APART)
    return [
        label(x, upper + 4, f"HW {last.high_watermark}", "end"),
        label(x, lower + 4, f"LSO {last.last_stable_offset}", f"end lsoname{stuck}"),
    ]


def _description(scale: Scale, name: str, each: WatermarkLine, points: Sequence[WatermarkPoint]) -> str:
    widest = max(points, key=lambda point: point.high_watermark - point.last_stable_offset)
    gap = widest.high_watermark - widest.last_stable_offset
    sentence = f"{name}: ends at high watermark {points[-1].high_watermark}, last stable offset "
    sentence += (
        f"{points[-1].last_stable_offset}; the gap was {gap} at its widest, at {moment_of(widest.at, scale.started)}"
    )
    if not each.last_stable_offset_lag:
        return sentence
    since = next(p.at for p in points if p.last_stable_offset == points[-1].last_stable_offset)
    return f"{sentence}; stuck since {moment_of(since, scale.started)}, for {duration(points[-1].at - since)}"
