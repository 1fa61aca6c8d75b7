"""``--against``: what is not as it was in an earlier run, and only that."""

from pathlib import Path

from harness.contract import Finding, Level, Status, Verdict
from harness.evidence.json_codec import to_json
from harness.evidence.run_folder import RunFolder
from harness.report.contract.changes import against, changes, earlier_run
from harness.report.contract.results import join
from harness.report.shared.run_metadata import run_metadata


def verdict(id_: str, status: Status, *anomalies: str, detail: str = "") -> Verdict:
    findings = tuple(Finding(anomaly=name, detail=detail) for name in anomalies)
    return Verdict(id=id_, level=Level.MUST, status=status, findings=findings)


def folder(path: Path, *verdicts: Verdict) -> RunFolder:
    made = RunFolder.create(path, {"target": "kafka:4.3.0"})
    for each in verdicts:
        made.append_verdict(to_json(each))
    return made


def test_other_anomalies_and_other_statuses_are_changes_and_other_details_are_none(tmp_path: Path) -> None:
    earlier = folder(
        tmp_path / "earlier",
        verdict("KIP890-A-01", Status.HOLDS),
        verdict("KIP890-A-02", Status.VIOLATED, "hanging-write", detail="offset 3"),
        verdict("KIP890-A-03", Status.VIOLATED, "hanging-write"),
    )
    about = run_metadata({"target": "kafka:4.3.1", "against": earlier_run(earlier)})
    now = [
        verdict("KIP890-A-01", Status.VIOLATED, "stuck-lso"),
        verdict("KIP890-A-02", Status.VIOLATED, "hanging-write", detail="offset 5"),
        verdict("KIP890-A-03", Status.VIOLATED, "wrong-error"),
        verdict("KIP890-A-04", Status.HOLDS),
    ]
    assert against(about).startswith("Kafka 4.3.0, ")
    assert [(one.id, one.before, one.after) for one in changes(about, join((), now))] == [
        ("KIP890-A-01", "holds", "violated: stuck-lso"),
        ("KIP890-A-03", "violated: hanging-write", "violated: wrong-error"),
        ("KIP890-A-04", "not judged", "holds"),
    ]


def test_without_an_earlier_run_nothing_is_told() -> None:
    about = run_metadata({"target": "kafka:4.3.1", "against": None})
    assert against(about) == ""
    assert changes(about, join((), [verdict("KIP890-A-01", Status.HOLDS)])) == ()
