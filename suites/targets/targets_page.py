"""``reports/TARGETS.md``: the table, and every failure with its exchanges and its explanation."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from suites.targets.explanations import Explanation, of
from suites.targets.target_runs import TargetRun

STATUSES = ("HOLDS", "VIOLATED", "UNDECIDED", "NOT_EXERCISED", "NOT_OFFERED", "OUT_OF_REACH")
SHOWN = 3
"""Findings shown of an anomaly; of the others the count is told."""
HEAD = """\
# Targets

Clusters of every shape, and servers that are no Kafka, each judged as `external:`, as a vendor would. Made by
`make targets` ([suites/targets](../suites/targets)). The explanations are written by hand
([explanations.toml](../suites/targets/explanations.toml)); the program fails when a failure has none, or an
explanation no failure. What a status means: [README](../README.md#how-to-read-a-verdict).

A Kafka of whatever shape passes, with exit code 0: nothing is VIOLATED but what this release is known to break on every
cluster, which is told below. What only its owner's side could bring about, such as a held link between its brokers, is
OUT_OF_REACH.
"""


def page(runs: Sequence[TargetRun], explanations: Sequence[Explanation]) -> str:
    """The whole text."""
    return "\n".join([HEAD, *_table(runs), *_commands(runs), *_failures(runs, explanations)]) + "\n"


def _table(runs: Sequence[TargetRun]) -> Iterator[str]:
    yield "| target | what it is | exit code | " + " | ".join(STATUSES) + " | seconds |"
    yield "|---|---|---|" + "---|" * (len(STATUSES) + 1)
    for run in runs:
        counts = " | ".join(str(run.counts.get(status, 0) or "·") for status in STATUSES)
        shape = run.shape
        yield f"| {shape.name} | {shape.server}: {shape.how} | {run.exit_code} | {counts} | {run.seconds:.0f} |"


def _commands(runs: Sequence[TargetRun]) -> Iterator[str]:
    yield "\n## The commands\n\n```"
    yield from (f"{run.shape.name:<20}{command}" for run in runs for command in run.commands)
    yield "```"


def _failures(runs: Sequence[TargetRun], explanations: Sequence[Explanation]) -> Iterator[str]:
    for run in runs:
        if not (failing := run.failing()):
            continue
        yield f"\n## {run.shape.name}\n\n{run.shape.server}: {run.shape.how}.{_ended(run)}"
        known = [verdict for verdict in failing if verdict["known_failure"]]
        yield from ([f"\nKnown of {run.shape.server}, and VIOLATED here as well:\n"] if known else ())
        yield from (
            f"- {verdict['id']} ({verdict['level']}): {_one_line(verdict['known_failure'])}" for verdict in known
        )
        for verdict in (one for one in failing if one not in known):
            yield from _failure(verdict, of(explanations, run.shape.name, verdict["id"]))


def _ended(run: TargetRun) -> str:
    ids = ", ".join(run.shape.ended_by)
    return f" Its process ends in {ids}, which is therefore judged last, on a server of its own." if ids else ""


def _failure(verdict: Mapping[str, Any], entries: Sequence[Explanation]) -> Iterator[str]:
    yield f"\n### {verdict['id']}: {verdict['status']} ({verdict['level']})\n\n{verdict['statement']}\n"
    by_anomaly: dict[tuple[str, str], list[str]] = {}
    for finding in verdict["findings"]:
        by_anomaly.setdefault((finding["anomaly"], finding["level"]), []).append(finding["detail"])
    for (anomaly, level), details in by_anomaly.items():
        for detail in list(dict.fromkeys(details))[:SHOWN]:
            yield f"- **{anomaly}** ({level}): {_one_line(detail)}"
        if (more := len(set(details)) - SHOWN) > 0:
            yield f"- and {more} more of {anomaly}"
    if verdict["reason"]:
        yield f"- not examined: {_one_line(verdict['reason'])}"
    yield from (f"\nWhy: {one.why} *{one.source}*" for one in entries)


def _one_line(text: str) -> str:
    """A broker's words as they stand in Markdown, without letters that begin a tag or a table's cell."""
    return " ".join(text.split()).replace("<", "&lt;").replace("|", "\\|")
