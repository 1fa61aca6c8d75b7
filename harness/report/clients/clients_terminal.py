"""The end of a run on clients: a table of clients by groups, what is broken, and each client's page.

What several clients have in common is told once. Everything fits 80 columns but what a line quotes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from harness.contract.level import Level
from harness.contract.verdict import Status
from harness.report.contract.results import RequirementResult, all_pass, counts, headline
from harness.report.shared.console import STYLES, bare_table, open_console
from harness.report.shared.status_letters import LETTERS, LETTERS_EXPLAINED
from harness.report.shared.words import DIFFERS, ORDER, count, first_line, label, meaning, short

LISTED = 40
"""Lines of one part; the pages have them all."""
MOST_GROUPS = 9
"""Groups that are columns of the table; where there are more, KIPs are."""
REASONED = (Status.UNDECIDED.value, Status.NOT_EXERCISED.value, Status.OUT_OF_REACH.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedClient:
    """A client, its results and its page."""

    name: str
    entries: Sequence[RequirementResult]
    page: Path

    @property
    def passes(self) -> bool:
        """Whether it lets the exit code be 0."""
        return all_pass(self.entries)


def conclude_clients(stream: TextIO, clients: Sequence[JudgedClient], page: Path) -> None:
    """Print all of it; ``page`` has the clients side by side."""
    console = open_console(stream)
    console.print()
    _print_table(console, clients)
    _print_part(console, "Violated", Status.VIOLATED.value, _findings(clients, Status.VIOLATED.value))
    _print_part(console, meaning(DIFFERS, "the Java client"), DIFFERS, _differing(clients))
    for status in REASONED:
        _print_part(console, label(status), status, _reasons(clients, status))
    _print_part(console, "Known failures that no longer fail", Status.UNDECIDED.value, _stale(clients))
    _print_headlines(console, clients, page)


def _print_table(console: Console, clients: Sequence[JudgedClient]) -> None:
    """A client is a row; a cell counts what is not as promised, or says that all is."""
    every = [entry for client in clients for entry in client.entries]
    groups = list(dict.fromkeys((entry.row.kip, entry.row.group) for entry in every))
    by_kip = len(groups) > MOST_GROUPS
    columns = list(dict.fromkeys((kip, "" if by_kip else group) for kip, group in groups))
    table = bare_table(gap=2)
    table.add_column("client", no_wrap=True)
    for kip, group in columns:
        table.add_column(group or kip, justify="right", no_wrap=True)
    table.add_column("kept", justify="right", no_wrap=True)
    for client in clients:
        cells = [_cell([e for e in client.entries if e.row.kip == kip and group in ("", e.row.group)])
                 for kip, group in columns]  # fmt: skip
        kept = sum(entry.status in (Status.HOLDS, DIFFERS) for entry in client.entries)
        table.add_row(client.name, *cells, Text(f"{kept} of {len(client.entries)}"))
    console.print(table)
    console.print(Text(LETTERS_EXPLAINED.format(than="the Java client"), style="dim"))


def _cell(entries: Sequence[RequirementResult]) -> Text:
    if not entries:
        return Text("")
    found = counts(entries)
    bad = [status for status in ORDER if status in found and status not in (Status.HOLDS, Status.NOT_OFFERED)]
    if not bad:
        only = Status.HOLDS.value if Status.HOLDS in found else Status.NOT_OFFERED.value
        return Text(LETTERS[only], style=STYLES[only])
    return Text(" ").join(Text(f"{found[status]}{LETTERS[status]}", style=STYLES[status]) for status in bad)


def _print_part(console: Console, heading: str, status: str, lines: Iterator[str]) -> None:
    told = list(lines)
    if told:
        console.print(Text(f"\n{heading[0].upper()}{heading[1:]}", style=STYLES[status]))
    for line in told[:LISTED]:
        console.print(Padding(Text(line), (0, 0, 0, 2), expand=False))
    if len(told) > LISTED:
        console.print(Text(f"  and {len(told) - LISTED} more on the pages"))


def _findings(clients: Sequence[JudgedClient], status: str) -> Iterator[str]:
    """A line for each anomaly of a requirement of a client, the first of its findings quoted."""
    for client, entry in _of(clients, status):
        assert entry.verdict is not None
        known = ", known" if entry.known else ""
        for anomaly in entry.anomalies:
            found = next(finding for finding in entry.verdict.findings if finding.anomaly == anomaly)
            level = "" if found.level == Level.MUST else f"{found.level} "
            detail = short(found.detail, 240)
            yield f"{client.name}  {entry.row.id}{known}  {level}{anomaly}: {detail}"


def _differing(clients: Sequence[JudgedClient]) -> Iterator[str]:
    """A line for each client, with ids and anomalies; the details are on its page."""
    for client in clients:
        own = [f"{entry.row.id} ({', '.join(entry.anomalies)})" for entry in client.entries if entry.status == DIFFERS]
        if own:
            yield f"{client.name}: {', '.join(own)}"


def _reasons(clients: Sequence[JudgedClient], status: str) -> Iterator[str]:
    """A line for each reason, with the requirements and the clients that have it."""
    ids: dict[str, dict[str, None]] = {}
    names: dict[str, dict[str, None]] = {}
    for client, entry in _of(clients, status):
        reason = short(first_line(entry.verdict.reason or "") if entry.verdict else "", 240)
        ids.setdefault(reason, {})[entry.row.id] = None
        names.setdefault(reason, {})[client.name] = None
    for reason, own in ids.items():
        named = ", ".join(own) if len(own) < 5 else count(len(own), "requirement", "requirements")
        yield f"{named} on {', '.join(names[reason])}: {reason}"


def _stale(clients: Sequence[JudgedClient]) -> Iterator[str]:
    for client in clients:
        for entry in client.entries:
            if entry.stale and entry.verdict:
                yield f"{client.name}  {entry.row.id}: {entry.verdict.known_failure}"


def _of(clients: Sequence[JudgedClient], status: str) -> Iterator[tuple[JudgedClient, RequirementResult]]:
    for client in clients:
        for entry in client.entries:
            if entry.status == status:
                yield client, entry


def _print_headlines(console: Console, clients: Sequence[JudgedClient], page: Path) -> None:
    console.print()
    for client in clients:
        style = "bold green" if client.passes else "bold red"
        console.print(Text(headline(client.name, client.entries), style=style))
        console.print(Text(f"  {client.page}", style="dim"), soft_wrap=True)
    passing = sum(client.passes for client in clients)
    told = f"{passing} of {count(len(clients), 'client passes', 'clients pass')}"
    console.print(Text(f"\n{told}", style="bold green" if passing == len(clients) else "bold red"))
    console.print(Text(f"side by side  {page}"), soft_wrap=True)
