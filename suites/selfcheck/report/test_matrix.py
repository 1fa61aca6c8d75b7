"""Several runs on one page: what differs between neighbours is marked, in the page and in the text."""

from pathlib import Path

import pytest

from harness.contract import Finding, Level, Status, Verdict
from harness.contract.catalogue.requirement_catalogue import RequirementRow
from harness.report.matrix.matrix import JudgedRun, Matrix, matrix
from harness.report.matrix.matrix_text import as_text
from harness.report.matrix.publish_matrix import publish_matrix
from harness.report.shared.run_metadata import run_metadata


def row(id_: str) -> RequirementRow:
    kip, group, _ = id_.split("-")
    return RequirementRow(
        id=id_,
        kip=kip.replace("KIP", "KIP-"),
        group=group,
        level="MUST",
        source="",
        statement=f"The promise {id_} <is kept>.",
        section="",
        link="",
        file="",
        accepts=1,
        refuses=(),
        refuted_by=(),
    )


ROWS = [row("KIP890-A-01"), row("KIP890-A-02"), row("KIP890-B-01")]


def run(release: str, **statuses: Status) -> JudgedRun:
    """Verdicts by the id's end (``A_01``); a violation has an anomaly."""
    verdicts = [_verdict(f"KIP890-{end.replace('_', '-')}", status) for end, status in statuses.items()]
    about = run_metadata({"target": f"kafka:{release}", "identity": f"Kafka {release}"})
    return JudgedRun(about=about, verdicts=verdicts)


def _verdict(id_: str, status: Status) -> Verdict:
    found = (Finding(anomaly="hanging-write", detail=""),) if status is Status.VIOLATED else ()
    known = "no verification" if found else None
    return Verdict(id=id_, level=Level.MUST, status=status, findings=found, known_failure=known)


@pytest.fixture(name="shown", scope="module")
def _shown() -> Matrix:
    older = run("3.5.2", A_01=Status.VIOLATED, A_02=Status.NOT_OFFERED)
    return matrix(ROWS, [older, run("4.3.1", A_01=Status.HOLDS, A_02=Status.NOT_OFFERED)])


def test_what_no_run_has_judged_has_no_row(shown: Matrix) -> None:
    assert [line.row.id for line in shown.rows] == ["KIP890-A-01", "KIP890-A-02"]
    assert [column.name for column in shown.columns] == ["3.5.2", "4.3.1"]


def test_neighbours_that_differ_are_marked_and_listed(shown: Matrix) -> None:
    assert [line.differs for line in shown.rows] == [True, False]
    assert [[cell.changed for cell in line.cells] for line in shown.rows] == [[False, True], [False, False]]
    (step,) = shown.steps
    assert [(change.before.words, change.after.words) for change in step.changes] == [
        ("violated: hanging-write", "holds")
    ]


def test_another_anomaly_is_a_difference_too() -> None:
    before = run("4.0.0", A_01=Status.VIOLATED)
    other = Verdict(
        id="KIP890-A-01",
        level=Level.MUST,
        status=Status.VIOLATED,
        findings=(Finding(anomaly="wrong-error", detail=""),),
    )
    shown = matrix(ROWS, [before, JudgedRun(about=run("4.0.2").about, verdicts=[other])])
    assert shown.steps[0].changes[0].after.words == "violated: wrong-error"


def test_the_text_has_the_table_and_every_change_with_its_reason(shown: Matrix) -> None:
    text = as_text(shown)
    assert "| KIP890-A-01 | ✗ | **✓** |" in text
    assert "- **KIP890-A-01** violated: hanging-write → holds (no verification)" in text


def test_the_page_is_whole_and_escapes_what_it_shows(shown: Matrix, tmp_path: Path) -> None:
    page = publish_matrix(shown, tmp_path / "made" / "releases.html", fencepost="1")
    text = page.read_text(encoding="utf-8")
    assert "The promise KIP890-A-01 &lt;is kept&gt;." in text
    assert text.count("changed") >= 1
    assert "<script" not in text
    assert page.with_suffix(".md").is_file()
