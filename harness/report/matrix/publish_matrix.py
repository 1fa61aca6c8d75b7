"""The matrix as two files: ``NAME.html`` for reading with marks and links, ``NAME.md`` for reading where it lies."""

from pathlib import Path

from harness.base.atomic_write import write_atomically
from harness.contract.verdict import Status
from harness.report.matrix.matrix import Matrix
from harness.report.matrix.matrix_text import as_text
from harness.report.shared.rendering import rendered
from harness.report.shared.status_marks import mark
from harness.report.shared.words import DIFFERS, count

MOST_NAMES = 4
"""Clients that the heading names."""
RARE = (DIFFERS, Status.UNDECIDED.value)
"""Explained only where they occur."""
LEGEND = (
    *(Status.HOLDS.value, Status.VIOLATED.value, DIFFERS, Status.NOT_EXERCISED.value, Status.UNDECIDED.value),
    *(Status.OUT_OF_REACH.value, Status.NOT_OFFERED.value),
)


def publish_matrix(shown: Matrix, page: Path, *, fencepost: str) -> Path:
    """Write the page and, beside it, the text; the absolute path of the page."""
    total = count(sum(1 for _ in shown.rows), "requirement", "requirements")
    names = ", ".join(column.name for column in shown.columns)
    if shown.of_clients and len(shown.columns) > MOST_NAMES:
        names = f"{len(shown.columns)} clients"
    found = {cell.mark.status for line in shown.rows for cell in line.cells}
    text = rendered(
        "matrix/matrix.html.j2",
        matrix=shown,
        title=f"{total} on {names}",
        total=total,
        violated=mark(Status.VIOLATED.value),
        differs=mark(DIFFERS),
        legend=[mark(status) for status in LEGEND if status not in RARE or status in found],
        fencepost=fencepost,
    )
    page.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(page.with_suffix(".md"), as_text(shown))
    return write_atomically(page, text).absolute()
