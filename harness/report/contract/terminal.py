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

from harness.contract.catalogue.requirement_catalogue import RequirementRow
from harness.contract.expect import Finding
from harness.contract.level import Level, Profile
from harness.contract.verdict import Status, Verdict
from harness.evidence.run_folder import RunFolder
from harness.report.contract.changes import ChangedVerdict, against, changes
from harness.report.contract.results import (
    RequirementResult,
    all_pass,
    counts,
    explanation,
    headline,
    join,
    shown_status,
)
from harness.report.contract.shared_reasons import SharedReason, shared_reasons
from harness.report.shared.console import STYLES, bare_table, counter, open_console, print_headline, print_report_paths
from harness.report.shared.run_metadata import run_metadata
from harness.report.shared.words import (
    DIFFERS,
    JAVA_CLIENT,
    KAFKA,
    ORDER,
    count,
    duration,
    first_line,
    label,
    meaning,
    short,
    title,
)

LISTED = 25
"""Requirements listed one by one below the table for each status; the page has them all."""
SHORTLY = (Status.OUT_OF_REACH.value, Status.NOT_OFFERED.value)
"""What does not fail is told by its reason alone, also where only one requirement has it."""


@dataclass(slots=True)
class ProgressLines:
    """Prints one line as each of ``total`` requirements is judged: plain text unless ``stream`` is a terminal."""

    stream: TextIO
    total: int
    profile: Profile = Profile.KAFKA
    done: int = 0

    def judged(self, row: RequirementRow, verdict: Verdict, *, of: str = "") -> None:
        """``[12/40] KIP890-VERIFY-01    HOLDS           34 ms  A transactional produce …``

        :param of: Of several clients the one that was judged; empty where there is one target.
        """
        self.done += 1
        console, status = open_console(self.stream), shown_status(verdict, self.profile)
        line = Text(f"{counter(self.done, self.total)} {of}{row.id:<18}  ")
        line.append(f"{status:<13}", style=STYLES[status])
        line.append(f" {duration(verdict.seconds * 1000):>8}  ")
        line.append(
            short(
                _remark(row, verdict, status, JAVA_CLIENT if of else KAFKA),
                max(console.width - len(line.plain) - 1, 20),
            ),
            style="dim",
        )
        console.print(line, soft_wrap=True)


def conclude(
    stream: TextIO, folder: RunFolder, rows: Sequence[RequirementRow], verdicts: Sequence[Verdict], page: Path | None
) -> None:
    """The end of a run: the table, what did not hold, the headline, where the report is, how to replay."""
    console, about = open_console(stream), run_metadata(folder.run())
    entries = join(rows, verdicts, about.profile, about.than)
    if entries:
        console.print(_table(entries))
    for status in (Status.VIOLATED.value, DIFFERS, Status.UNDECIDED.value, Status.NOT_EXERCISED.value, *SHORTLY):
        _print_status(console, status, [entry for entry in entries if entry.status == status], about.than)
    _print_group(console, "Known failures that no longer fail", "yellow", [entry for entry in entries if entry.stale])
    _print_changes(console, against(about), changes(about, entries))
    print_headline(console, headline(about.name, entries), explanation(entries), passes=all_pass(entries))
    print_report_paths(console, folder.path, page)


def _print_changes(console: Console, earlier: str, changed: Sequence[ChangedVerdict]) -> None:
    """What is not as it was in the run that was named by ``--against``."""
    if earlier:
        told = count(len(changed), "promise differs", "promises differ") if changed else "nothing differs"
        console.print(Text(f"\nSince {earlier}: {told}"))
    for change in changed[:LISTED]:
        console.print(Text(f"  {change.id}  {change.before} → {change.after}"))
    if len(changed) > LISTED:
        console.print(Text(f"  and {len(changed) - LISTED} more on the page"))


def _remark(row: RequirementRow, verdict: Verdict, status: str, than: str) -> str:
    anomalies = ", ".join(dict.fromkeys(finding.anomaly for finding in verdict.findings))
    if status == DIFFERS:
        return f"{meaning(DIFFERS)}: {anomalies}" if than == KAFKA else anomalies  # of a client there is less room
    if status == Status.VIOLATED:
        level = "" if verdict.level == Level.MUST else f"{verdict.level}: "
        return f"{'known: ' if verdict.known_failure else ''}{level}{anomalies}"
    return first_line(verdict.reason) if verdict.reason else row.statement


def _table(entries: Sequence[RequirementResult]) -> Table:
    shown = [status for status in reversed(ORDER) if status in counts(entries)]
    table = bare_table(gap=2 if len(shown) < 6 else 1)  # all of them still fit 80 columns
    table.add_column("KIP", no_wrap=True)
    table.add_column("group", no_wrap=True)
    for status in shown:
        table.add_column(label(status).lower(), justify="right")
    groups = dict.fromkeys((entry.row.kip, entry.row.group) for entry in entries)
    kips = [kip for kip, _ in groups]
    for place, (kip, group) in enumerate(groups):
        own = [entry for entry in entries if (entry.row.kip, entry.row.group) == (kip, group)]
        table.add_row("" if kip in kips[:place] else kip, group, *_numbers(own, shown))
    table.add_section()
    table.add_row("all", "", *_numbers(entries, shown))
    return table


def _numbers(entries: Sequence[RequirementResult], shown: Sequence[str]) -> list[Text]:
    found = counts(entries)
    return [Text(str(found[s]), style=STYLES[s]) if s in found else Text("·", style="dim") for s in shown]


def _print_status(console: Console, status: str, entries: Sequence[RequirementResult], than: str) -> None:
    """All of one status: what has a reason in common by that reason, the rest one by one."""
    without_findings = [entry for entry in entries if entry.verdict and not entry.verdict.findings]
    common = [one for one in shared_reasons(without_findings) if status in SHORTLY or len(one.entries) > 1]
    by_reason = {id_ for reason in common for id_ in reason.ids}
    own = [entry for entry in entries if entry.row.id not in by_reason]
    _print_group(console, title(status, than), STYLES[status], own, common)


def _print_group(
    console: Console,
    heading: str,
    style: str,
    entries: Sequence[RequirementResult],
    common: Sequence[SharedReason] = (),
) -> None:
    if entries or common:
        console.print(Text(f"\n{heading}", style=style))
    for reason in common:
        console.print(Padding(Text(f"{short(reason.reason, 400)}:"), (0, 0, 0, 2), expand=False))
        console.print(Padding(Text(f"{reason.number}: {', '.join(reason.ids)}"), (0, 0, 0, 4), expand=False))
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
    lines = [_finding(alike) for alike in _by_anomaly(verdict.findings)]
    if verdict.reason:
        aside = "not examined further: " if verdict.findings else ""
        lines.append(Text(short(aside + first_line(verdict.reason), 400)))
    if verdict.known_failure:
        lines.append(Text(f"known failure: {short(verdict.known_failure, 400)}", style="dim"))
    return lines


def _by_anomaly(findings: Sequence[Finding]) -> list[list[Finding]]:
    """The findings of each anomaly and level: a broker breaks one promise in every version of a request."""
    found: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        found.setdefault((finding.anomaly, finding.level), []).append(finding)
    return list(found.values())


def _finding(alike: Sequence[Finding]) -> Text:
    """``late-produce-accepted: …``, of a habit of Kafka's ``SHOULD wrong-message: …``; of several the first."""
    first = alike[0]
    level = () if first.level == Level.MUST else (f"{first.level} ",)
    times = f" ({len(alike)} times)" if len(alike) > 1 else ""
    return Text.assemble(*level, (first.anomaly, "red"), f"{times}: {short(first.detail, 400)}")
