"""What a qualification would create, change and leave alone on a cluster, as text for a person."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from rich.padding import Padding
from rich.text import Text

from harness.report.shared.console import bare_table, open_console
from harness.report.shared.words import count


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRequirement:
    """What would become of one requirement.

    :param changes: What it changes and sets back, in Kafka's terms (``feature level``); () when nothing.
    :param obstacle: Why it would not be tried to its end; None when nothing is known against it.
    :param offered: False where that obstacle is that the target does not offer what the promise is about.
    """

    id: str
    changes: tuple[str, ...] = ()
    obstacle: str | None = None
    offered: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that is known before anything is done.

    :param created: For each kind of thing (``topics``) how many there would be, their names, their end.
    :param notes: What else the owner should know.
    """

    target: str
    created: Mapping[str, str]
    requirements: Sequence[PlannedRequirement]
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def tried(self) -> Sequence[PlannedRequirement]:
        """Those that would run with nothing known against them."""
        return [each for each in self.requirements if each.obstacle is None]


def print_plan(plan: Plan, stream: TextIO) -> None:
    """Print it: first what would be done, then what would not, and why."""
    console = open_console(stream)
    console.print(Text(f"Plan for {plan.target}. Nothing was created or changed."))
    for title, rows in _sections(plan):
        console.print(Text(f"\n{title}"))
        table = bare_table()
        table.show_header = False
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for name, text in rows:
            table.add_row(name, Text(text))
        console.print(Padding(table, (0, 0, 0, 2)))


def _sections(plan: Plan) -> Iterator[tuple[str, Sequence[tuple[str, str]]]]:
    number = count(len(plan.tried), "requirement", "requirements")
    yield f"Would be tried: {number} of {len(plan.requirements)}", [("", _ids(plan.tried))]
    yield "Would be created", list(plan.created.items())
    changing = [each for each in plan.requirements if each.changes]
    would = [(each.id, f"{', '.join(each.changes)}: {_allowance(each)}") for each in changing]
    yield "Would be changed, and set back", would or [("nothing", "")]
    lacking = [each for each in plan.requirements if each.obstacle]
    yield "Out of reach", _by_obstacle(each for each in lacking if each.offered)
    yield "Not offered", _by_obstacle(each for each in lacking if not each.offered)
    if plan.notes:
        yield "To know", [("", note) for note in plan.notes]


def _allowance(each: PlannedRequirement) -> str:
    return "allowed" if each.obstacle is None else f"not done, because {each.obstacle}"


def _by_obstacle(lacking: Iterable[PlannedRequirement]) -> list[tuple[str, str]]:
    """Each reason once, with those that it stops."""
    by_reason: dict[str, list[PlannedRequirement]] = {}
    for each in lacking:
        by_reason.setdefault(each.obstacle or "", []).append(each)
    return [(str(len(found)), f"{reason}: {_ids(found)}") for reason, found in by_reason.items()] or [("nothing", "")]


def _ids(some: Sequence[PlannedRequirement]) -> str:
    return ", ".join(each.id for each in some)
