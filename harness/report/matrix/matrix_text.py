"""The matrix as Markdown: the table with one letter a verdict, and every change in words."""

from collections.abc import Iterator

from harness.report.matrix.matrix import Matrix, MatrixCell, Transition
from harness.report.shared.status_letters import LETTERS, LETTERS_EXPLAINED
from harness.report.shared.words import JAVA_CLIENT, KAFKA, count


def as_text(shown: Matrix) -> str:
    """One text, readable where it is published."""
    return "\n".join(_lines(shown)) + "\n"


def _lines(shown: Matrix) -> Iterator[str]:
    names = [column.name for column in shown.columns]
    yield f"# {count(sum(1 for _ in shown.rows), 'requirement', 'requirements')} on {', '.join(names)}"
    bold = f" Bold: not as on {'the version' if shown.of_clients else 'the neighbour'} to the left."
    explained = LETTERS_EXPLAINED.format(than=JAVA_CLIENT if shown.of_clients else KAFKA)
    yield f"\n{explained}.{bold if shown.steps else ''}\n"
    yield f"| requirement | {' | '.join(names)} |"
    yield "|---|" + ":-:|" * len(names)
    for line in shown.rows:
        yield f"| {line.row.id} | {' | '.join(map(_letter, line.cells))} |"
    for step in shown.steps:
        yield from _step(step)
    if shown.spoken:
        yield "\n## Versions spoken\n"
        yield f"| API | {' | '.join(names)} |"
        yield "|---|" + ":-:|" * len(names)
        for spoken in shown.spoken:
            yield f"| {spoken.api} | {' | '.join(cell or '–' for cell in spoken.cells)} |"


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
