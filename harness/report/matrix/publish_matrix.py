"""The matrix as two files: ``NAME.html`` for reading with marks and links, ``NAME.md`` for reading where it lies."""

from pathlib import Path

from harness.base.atomic_write import write_atomically
from harness.contract.verdict import Status
from harness.report.matrix.matrix import Matrix
from harness.report.matrix.matrix_text import as_text
from harness.report.shared.rendering import rendered
from harness.report.shared.status_marks import mark
from harness.report.shared.words import count

LEGEND = (Status.HOLDS, Status.VIOLATED, Status.NOT_EXERCISED, Status.OUT_OF_REACH, Status.NOT_OFFERED)


def publish_matrix(shown: Matrix, page: Path, *, fencepost: str) -> Path:
    """Write the page and, beside it, the text; the absolute path of the page."""
    total = count(sum(1 for _ in shown.rows), "requirement", "requirements")
    names = ", ".join(column.name for column in shown.columns)
    text = rendered(
        "matrix/matrix.html.j2",
        matrix=shown,
        title=f"{total} on {names}",
        total=total,
        legend=[mark(status.value) for status in LEGEND],
        fencepost=fencepost,
    )
    page.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(page.with_suffix(".md"), as_text(shown))
    return write_atomically(page, text).absolute()
