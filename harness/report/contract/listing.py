"""The catalogue and a cluster's addresses as tables for a person."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from harness.contract.catalogue.promises import Promises
from harness.contract.catalogue.requirement_catalogue import RequirementRow
from harness.contract.refuters import NONE


def listing(rows: Sequence[RequirementRow], promises: Promises, others: Sequence[str] = ()) -> None:
    """Print every requirement with level, access, source and how it is proven able to fail; then what is not asked.

    :param others: Ids that are not listed and yet asked: those of clients beside those of brokers.
    """
    changing = sum("changes" in row.access for row in rows)
    title = f"{len(rows)} requirements; {changing} with access 'changes' need --allow-changes on external:"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for heading in ("id", "level", "access", "source", "proven by", "statement"):
        table.add_column(heading, no_wrap=heading in ("id", "level", "access"), overflow="fold")
    for row in rows:
        none = sum(refuter.startswith(NONE) for refuter in row.refuted_by)
        live = f"{len(row.refuted_by) - none} live" + (f", {none} not live" if none else "")
        strikes = f"{row.accepts} accepts, {len(row.refuses)} refuses, {live}"
        access = ", ".join(row.access) or "–"
        table.add_row(row.id, row.level, access, row.source, strikes, row.statement)
    console = Console()
    # A pipe has no width; a folded row would be hard to grep.
    console.width = console.width if console.is_terminal else 400
    console.print(table)
    for sentence in coverage([*(row.id for row in rows), *others], promises):
        console.print(sentence, highlight=False)


def coverage(requirements: Sequence[str], promises: Promises) -> Iterator[str]:
    """How many of the catalogue's promises are asked, and what becomes of the rest."""
    of_brokers = set(promises.asked(requirements)) & set(promises.of_brokers)
    of_clients = set(promises.asked(requirements)) & set(promises.of_clients)
    yield f"promises of brokers: {len(of_brokers)} of {len(promises.of_brokers)} asked"
    yield f"promises of clients: {len(of_clients)} of {len(promises.of_clients)} asked"
    if own := promises.beyond(requirements):
        yield f"beyond the catalogue, with ids of this suite's own: {', '.join(own)}"
    for folder, promised in (("contract", promises.of_brokers), ("clients", promises.of_clients)):
        if none := [id_ for id_ in promises.not_asked if id_ in promised]:
            yield f"cannot be asked (suites/{folder}/NOT_ASKED.md): {', '.join(none)}"
    if missing := promises.missing(requirements):
        yield f"not asked yet: {', '.join(missing)}"
