"""The matrix as Markdown: the table with one letter a verdict, and every change in words."""

from collections.abc import Iterator

from harness.contract.verdict import Status
from harness.report.matrix.matrix import Matrix, MatrixCell, Transition
from harness.report.shared.words import DIFFERS, NOT_JUDGED, count

LETTERS = {
    Status.HOLDS.value: "✓",
    Status.VIOLATED.value: "✗",
    DIFFERS: "≠",
    Status.NOT_EXERCISED.value: "?",
    Status.UNDECIDED.value: "!",
    Status.OUT_OF_REACH.value: "o",
    Status.NOT_OFFERED.value: "·",
    NOT_JUDGED: " ",
}


def as_text(shown: Matrix) -> str:
    """One text, readable where it is published."""
    return "\n".join(_lines(shown)) + "\n"


def _lines(shown: Matrix) -> Iterator[str]:
    names = [column.name for column in shown.columns]
    yield f"# {count(sum(1 for _ in shown.rows), 'requirement', 'requirements')} on {', '.join(names)}"
    yield "\n✓ holds · ✗ violated · ≠ differs from Kafka, keeps the KIP · ? not exercised · ! undecided"
    yield "o out of reach · · not offered. Bold: not as on the neighbour to the left.\n"
    yield f"| requirement | {' | '.join(names)} |"
    yield "|---|" + ":-:|" * len(names)
    for line in shown.rows:
        yield f"| {line.row.id} | {' | '.join(map(_letter, line.cells))} |"
    for step in shown.steps:
        yield from _step(step)


def _letter(cell: MatrixCell) -> str:
    letter = LETTERS[cell.mark.status]
    return f"**{letter}**" if cell.changed else letter


def _step(step: Transition) -> Iterator[str]:
    yield f"\n## From {step.before} to {step.after}\n"
    if not step.changes:
        yield "Nothing differs."
    for change in step.changes:
        why = change.after.why or change.before.why
        yield f"- **{change.row.id}** {change.before.words} → {change.after.words}" + (f" ({why})" if why else "")
