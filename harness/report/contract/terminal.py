"""What the terminal shows: a line for each verdict while the run goes on, and a table with the result at its end.

Colours come only on a terminal (rich decides, and honours ``NO_COLOR``); everything fits 80 columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.contract.requirement_catalogue import RequirementRow
from harness.contract.verdict import Status, Verdict
from harness.evidence.run_folder import RunFolder
from harness.report.contract.results import RequirementResult, counts, explanation, headline, join
from harness.report.shared.console import STYLES, bare_table, counter, open_console, print_headline, print_report_paths
from harness.report.shared.run_metadata import run_metadata
from harness.report.shared.words import ORDER, duration, first_line, label, short

LISTED = 25
"""Requirements listed below the table for each status; the page has them all."""


@dataclass(slots=True)
class ProgressLines:
    """Prints one line as each of ``total`` requirements is judged: plain text unless ``stream`` is a terminal."""

    stream: TextIO
    total: int
    done: int = 0

    def judged(self, row: RequirementRow, verdict: Verdict) -> None:
        """``[12/40] KIP890-VERIFY-01    HOLDS           34 ms  A transactional produce …``"""
        self.done += 1
        console = open_console(self.stream)
        line = Text(f"{counter(self.done, self.total)} {row.id:<18}  ")
        line.append(f"{verdict.status.value:<13}", style=STYLES[verdict.status.value])
        line.append(f" {duration(verdict.seconds * 1000):>8}  ")
        line.append(short(_remark(row, verdict), max(console.width - len(line.plain) - 1, 20)), style="dim")
        console.print(line, soft_wrap=True)


def conclude(
    stream: TextIO, folder: RunFolder, rows: Sequence[RequirementRow], verdicts: Sequence[Verdict], page: Path | None
) -> None:
    """The end of a run: the table, what did not hold, the headline, where the report is, how to replay."""
    console, about = open_console(stream), run_metadata(folder.run())
    entries = join(rows, verdicts, about.profile)
    if entries:
        console.print(_table(entries))
    for status in (Status.VIOLATED, Status.UNDECIDED, Status.NOT_EXERCISED):
        _print_group(console, label(status), STYLES[status], [entry for entry in entries if entry.status == status])
    _print_group(console, "Known failures that no longer fail", "yellow", [entry for entry in entries if entry.stale])
    good = any(entry.verdict for entry in entries) and not any(entry.prevents_passing for entry in entries)
    print_headline(console, headline(about.name, entries), explanation(entries), passes=good)
    print_report_paths(console, folder.path, page)


def _remark(row: RequirementRow, verdict: Verdict) -> str:
    if verdict.status is Status.VIOLATED:
        known = "known: " if verdict.known_failure else ""
        return known + ", ".join(dict.fromkeys(finding.anomaly for finding in verdict.findings))
    return first_line(verdict.reason) if verdict.reason else row.statement


def _table(entries: Sequence[RequirementResult]) -> Table:
    shown = [status for status in reversed(ORDER) if status in counts(entries)]
    table = bare_table()
    table.add_column("KIP", no_wrap=True)
    table.add_column("group", no_wrap=True)
    for status in shown:
        table.add_column(label(status).lower(), justify="right")
    groups = dict.fromkeys((entry.row.kip, entry.row.group) for entry in entries)
    kips = [kip for kip, _ in groups]
    for place, (kip, group) in enumerate(groups):
        timeout_seconds = [entry for entry in entries if (entry.row.kip, entry.row.group) == (kip, group)]
        table.add_row("" if kip in kips[:place] else kip, group, *_numbers(timeout_seconds, shown))
    table.add_section()
    table.add_row("all", "", *_numbers(entries, shown))
    return table


def _numbers(entries: Sequence[RequirementResult], shown: Sequence[str]) -> list[Text]:
    found = counts(entries)
    return [Text(str(found[s]), style=STYLES[s]) if s in found else Text("·", style="dim") for s in shown]


def _print_group(console: Console, title: str, style: str, entries: Sequence[RequirementResult]) -> None:
    if entries:
        console.print(Text(f"\n{title}", style=style))
    for entry in entries[:LISTED]:
        console.print(Text(f"  {entry.row.id}  {entry.row.level}"))
        for line in (Text(short(entry.row.statement, 200)), *_reasons(entry)):
            console.print(Padding(line, (0, 0, 0, 4), expand=False))
    if len(entries) > LISTED:
        console.print(Text(f"  and {len(entries) - LISTED} more on the page"))


def _reasons(entry: RequirementResult) -> list[Text]:
    verdict = entry.verdict
    if verdict is None:
        return []
    lines = []
    for finding in verdict.findings:
        lines.append(Text.assemble((finding.anomaly, "red"), f": {short(finding.detail, 400)}"))
    if verdict.reason:
        lines.append(Text(short(first_line(verdict.reason), 400)))
    if verdict.known_failure:
        lines.append(Text(f"known failure: {short(verdict.known_failure, 400)}", style="dim"))
    return lines
