"""The trends on the terminal, and as a page."""

from pathlib import Path
from typing import TextIO

from rich.text import Text

from harness.base.atomic_write import write_atomically
from harness.report.shared.console import bare_table, open_console
from harness.report.shared.rendering import rendered
from harness.report.shared.words import short
from harness.report.trends.trends_view import TrendLine, Trends

HEADINGS = ("rounds", "red", "txn/s", "recover", "settle", "no commit")


def publish_trends(trends: Trends, folder: Path, *, parquet: Path, fencepost: str) -> Path:
    """Write the page; its absolute path."""
    page = rendered("trends/trends.html.j2", trends=trends, parquet=str(parquet), fencepost=fencepost)
    return write_atomically(folder / "index.html", page).absolute()


def print_trends(stream: TextIO, trends: Trends, *, page: Path, parquet: Path) -> None:
    """A line a release and scenario with medians, the headline, and where the rest is; fits 80 columns."""
    console, table, before = open_console(stream), bare_table(gap=1), ""
    table.add_column("release", no_wrap=True)
    table.add_column("scenario", no_wrap=True)
    for name in HEADINGS:
        table.add_column(name, justify="right", no_wrap=True)
    for line in trends.lines:
        release, before = "" if line.release == before else line.release, line.release
        table.add_row(Text(short(release, 14)), Text(short(line.scenario, 24)), *_cells(line))
    console.print(table)
    console.print(Text(f"\n{trends.headline}", style="bold green" if trends.good else "bold red"))
    for name, place in (("page", page), ("table", parquet)):
        console.print(Text(f"{name:<6} {place}"), soft_wrap=True)


def _cells(line: TrendLine) -> list[Text]:
    red = Text(line.red, style="bold red" if line.red != "–" else "")
    times = (line.recovered[0], line.settled[0], line.unavailable[1])
    return [Text(line.rounds), red, Text(line.pace), *map(Text, times)]
