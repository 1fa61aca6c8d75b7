"""The catalogue and a cluster's addresses as tables for a person."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from harness.contract.catalogue.requirement_catalogue import RequirementRow


def listing(rows: Sequence[RequirementRow]) -> None:
    """Print every requirement with level, access, source and how it is proven able to fail."""
    changing = sum("changes" in row.access for row in rows)
    title = f"{len(rows)} requirements; {changing} with access 'changes' need --allow-changes on external:"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for heading in ("id", "level", "access", "source", "proven by", "statement"):
        table.add_column(heading, no_wrap=heading in ("id", "level", "access"), overflow="fold")
    for row in rows:
        live = sum(1 for refuter in row.refuted_by if not refuter.startswith("none:"))
        strikes = f"{row.accepts} accepts, {len(row.refuses)} refuses, " + (
            f"{live} live" if live else "no live refuter"
        )
        access = ", ".join(row.access) or "–"
        table.add_row(row.id, row.level, access, f"{row.kip} {row.section}", strikes, row.statement)
    console = Console()
    # A pipe has no width; a folded row would be hard to grep.
    console.width = console.width if console.is_terminal else 400
    console.print(table)
