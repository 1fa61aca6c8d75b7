"""What the terminal shows of chaos: a line for each round as it ends, and the result at the end of the session.

Colours come only on a terminal (rich decides, and honours ``NO_COLOR``); tables fit 80 columns.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.report.chaos.anomaly_words import tallied, text, times
from harness.report.chaos.round_results import RoundResults, read_round, tally
from harness.report.chaos.session_results import SessionResults, read_session
from harness.report.shared.console import STYLES, bare_table, counter, open_console, print_headline, print_report_paths
from harness.report.shared.words import count, duration, label, short

FINDINGS_SHOWN = 6
"""Findings shown of a round; its page has more."""


def round_line(stream: TextIO, folder: Path, *, number: int, of: int) -> None:
    """One line for the round in ``folder``: ``[ 3/12] late-produce  seed 8128  VIOLATED  38 s  stuck-lso``."""
    round_ = read_round(folder)
    console = open_console(stream)
    line = Text(f"{counter(number, of)} {short(round_.scenario, 24):<24}  seed {text(round_.about.seed):<10}  ")
    line.append(f"{round_.conclusion:<14}", style=STYLES[round_.conclusion])
    line.append(f"{_took(round_):>10}  ")
    line.append(short(_remark(round_), max(console.width - len(line.plain) - 1, 24)), style="dim")
    console.print(line, soft_wrap=True)


def not_offered_line(stream: TextIO, scenario: str, why: str, *, number: int, of: int) -> None:
    """One line for a round that the target gives no occasion for; ``why`` is a clause."""
    line = Text(f"{counter(number, of)} {short(scenario, 24):<24}  ")
    line.append("not offered: " + short(why, 400), style="dim")
    open_console(stream).print(line, soft_wrap=True)


def conclude_session(stream: TextIO, folder: Path, rounds: Sequence[Path], page: Path | None) -> bool:
    """The end of a session: the table, what was found, the headline, where the report is; whether it passes."""
    console, session = open_console(stream), read_session(folder, rounds)
    if session.rounds:
        console.print(_table(session))
    for round_ in session.rounds:
        if not round_.passes:
            _print_round(console, round_)
    print_headline(console, session.headline, session.explanation, passes=session.passes)
    _print_missed(console, session)
    _print_against(console, session)
    print_report_paths(console, folder, page)
    return session.passes


def _table(session: SessionResults) -> Table:
    table = bare_table()
    for name in ("scenario", "seed", "conclusion"):
        table.add_column(name, no_wrap=name != "scenario")
    for name in ("faults", "committed", "took"):
        table.add_column(name, justify="right", no_wrap=True)
    for round_ in session.rounds:
        table.add_row(
            Text(short(round_.scenario, 24)),
            Text(text(round_.about.seed)),
            Text(label(round_.conclusion), style=STYLES[round_.conclusion]),
            _struck(round_),
            Text(f"{round_.timeline.committed:,}" if round_.timeline else "–"),
            Text(_took(round_)),
        )
    return table


def _struck(round_: RoundResults) -> Text:
    if round_.timeline is None:
        return Text("–")
    return Text(
        f"{len(round_.faults) - len(round_.missed)}/{len(round_.faults)}", style="yellow" if round_.missed else ""
    )


def _took(round_: RoundResults) -> str:
    return duration(round_.about.seconds * 1000) if round_.about.seconds else ""


def _remark(round_: RoundResults) -> str:
    if round_.out_of_reach:
        return round_.out_of_reach
    if round_.anomalies:
        return ", ".join(f"{name}{times(number)}" for name, number in round_.anomalies.items())
    if round_.missed:
        return f"{count(len(round_.missed), 'fault', 'faults')} did not strike"
    return tallied(tally(round_))


def _print_round(console: Console, round_: RoundResults) -> None:
    title = f"{round_.scenario}, seed {text(round_.about.seed)}: {label(round_.conclusion).lower()}"
    console.print(Text(f"\n{short(title, 200)}", style=STYLES[round_.conclusion]))
    findings = [found for check in round_.checks for found in check.findings]
    lines = [
        Text.assemble((found.anomaly, "red"), f": {short(found.detail, 400)}") for found in findings[:FINDINGS_SHOWN]
    ]
    in_all = sum(round_.anomalies.values())
    if in_all > len(lines) and lines:
        lines.append(Text(f"and {count(in_all - len(lines), 'finding', 'findings')} more"))
    lines += [Text(f"{check.name}: {short(check.undecided, 400)}") for check in round_.checks if check.undecided]
    for line in lines:
        console.print(Padding(line, (0, 0, 0, 2), expand=False))
    if round_.again:
        console.print(Text(f"  again  {short(round_.again, 2_000)}"), soft_wrap=True)


def _print_against(console: Console, session: SessionResults) -> None:
    for each in session.against:
        measure, before, now, rounds, p, conclusion = each.words
        line = f"{measure}, against {session.earlier}: {conclusion} (median {before} → {now}, p {p}, rounds {rounds})"
        console.print(Text(short(line, 400), style="yellow" if conclusion == "slower" else ""))


def _print_missed(console: Console, session: SessionResults) -> None:
    names = dict.fromkeys(fault.name for round_ in session.rounds for fault in round_.missed)
    if names:
        console.print(Text(f"Faults that did not strike: {short(', '.join(names), 400)}", style="yellow"))
