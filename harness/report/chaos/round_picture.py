"""The timeline of a round as one SVG: phases, faults, a lane a role, levels a partition, throughput, one time axis.

Colours come from the page's style sheet by class, so that one picture serves light and dark; every shape has a
tooltip, and the page's tables have the same facts.
"""

from harness.evidence.history.judgement import Judgement
from harness.evidence.history.operation import Outcome
from harness.evidence.history.timeline import Timeline
from harness.report.chaos.scale import WIDTH, Scale, axis, clean
from harness.report.chaos.swimlanes import (
    LANE,
    PHASE_HEIGHT,
    ROW,
    ROWS_SHOWN,
    fault_bands,
    fault_bars,
    fault_rows,
    lanes,
    operations_of_findings,
    phases,
    roles,
)
from harness.report.chaos.watermark_lines import LEVEL, PACE, levels, pace, plain_names, shown_partitions
from harness.report.shared.words import count, duration

GAP = 14
"""Between two groups of strips."""


def picture(timeline: Timeline, judgement: Judgement | None) -> str:
    """The whole picture as SVG text."""
    scale = Scale(started=timeline.started, ended=timeline.ended)
    rows = min(max(fault_rows(scale, timeline.faults), default=-1) + 1, ROWS_SHOWN)
    shown, partitions = roles(timeline)[0], shown_partitions(timeline)
    at_faults = PHASE_HEIGHT + 6
    at_lanes = at_faults + rows * ROW + 10
    at_levels = at_lanes + len(shown) * LANE + GAP
    at_paces = at_levels + len(partitions) * (LEVEL + 4) + GAP
    bottom = at_paces + 2 * (PACE + 6)
    drawn = [
        *axis(scale, at_faults, bottom),
        *fault_bands(scale, timeline.faults, at_lanes - 4, bottom),
        *phases(scale, timeline.phases, 0),
        *fault_bars(scale, timeline.faults, at_faults),
        *lanes(scale, timeline, shown, operations_of_findings(judgement, timeline), at_lanes),
        *(
            part
            for place, (each, plain) in enumerate(zip(partitions, plain_names(partitions), strict=True))
            for part in levels(scale, each, plain, at_levels + place * (LEVEL + 4))
        ),
        *pace(scale, timeline, at_paces, "records", lambda each: each.records),
        *pace(scale, timeline, at_paces + PACE + 6, "commits", lambda each: each.txns),
    ]
    view, alternative = f"0 0 {WIDTH} {bottom + 22}", clean(description(timeline))
    head = f'<svg class="timeline" viewBox="{view}" role="img" aria-label="{alternative}">'
    return "".join((head, *drawn, "</svg>"))


def description(timeline: Timeline) -> str:
    """The picture in words, for those who do not see it."""
    behind = [f"{each.topic}-{each.partition}" for each in timeline.levels if each.last_stable_offset_lag > 0]
    stuck = f"the last stable offset stays behind on {', '.join(behind)}" if behind else "no partition stays behind"
    parts = (
        f"{duration(timeline.ended - timeline.started)} of {count(timeline.operations, 'operation', 'operations')}",
        count(timeline.actors_in_all, "actor", "actors"),
        count(timeline.faults_in_all, "fault", "faults"),
        stuck,
    )
    return "; ".join(parts) + "."


def left_out(timeline: Timeline) -> str:
    """What the picture does not show, as a sentence; empty where it shows all."""
    partitions, lanes_missing = timeline.partitions_in_all - len(shown_partitions(timeline)), roles(timeline)[1]
    operations = timeline.drawable - len(timeline.drawn)
    missing = [
        f"{operations:,} of {timeline.drawable:,} operations ({_chosen(timeline)})" if operations > 0 else "",
        count(partitions, "partition", "partitions") if partitions > 0 else "",
        count(lanes_missing, "role", "roles") if lanes_missing else "",
        count(timeline.faults_in_all - len(timeline.faults), "fault", "faults")
        if timeline.faults_in_all > len(timeline.faults)
        else "",
    ]
    named = [part for part in missing if part]
    return f"Not drawn: {', '.join(named)}." if named else ""


def _chosen(timeline: Timeline) -> str:
    """How the drawn ones were chosen: where one that was done had room, every other kind had."""
    room = any(each.outcome is Outcome.DONE for each in timeline.drawn)
    return "drawn by lot among those that were done" if room else "drawn by lot"
