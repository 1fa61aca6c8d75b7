"""What both reports print in the same way: the console, the colours of statuses, the end of a run.

Colours come only on a terminal (rich decides, and honours ``NO_COLOR``).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.report.shared.published_files import replay_command
from harness.report.shared.words import DIFFERS, NOT_JUDGED

STYLES: Mapping[str, str] = {
    "HOLDS": "green",
    "VIOLATED": "bold red",
    "UNDECIDED": "yellow",
    "NOT_EXERCISED": "magenta",
    "OUT_OF_REACH": "blue",
    "NOT_OFFERED": "dim",
    NOT_JUDGED: "dim",
    DIFFERS: "cyan",
}
"""The style of each status as it is shown."""


def open_console(stream: TextIO) -> Console:
    """A console that takes every text as it is."""
    return Console(file=stream, highlight=False, emoji=False, markup=False)


def counter(number: int, of: int) -> str:
    """``[ 3/12]``, as wide for every number up to ``of``."""
    return f"[{number:>{len(str(of))}}/{of}]"


def bare_table(gap: int = 2) -> Table:
    """A table without lines, with ``gap`` blanks between its columns."""
    return Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="dim")


def print_headline(console: Console, headline: str, outcome: str, *, passes: bool) -> None:
    """The two sentences that matter."""
    console.print(Text(f"\n{headline}", style="bold green" if passes else "bold red"))
    console.print(Text(outcome))


def print_report_paths(console: Console, folder: Path, page: Path | None) -> None:
    """Where the report is, and how to judge the folder again."""
    console.print()
    for name, place in (("report", str(page) if page else "not written"), ("replay", replay_command(folder))):
        console.print(Text(f"{name}  {place}"), soft_wrap=True)
