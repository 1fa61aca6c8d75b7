"""report.json validates against its published schema, whatever the run was like, and the answer says what happened."""

import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from harness.contract.level import Profile
from harness.contract.verdict import Status, Verdict
from harness.evidence.run_folder import RunFolder
from harness.report.contract.publish import publish
from harness.report.contract.results import explanation, headline, join
from harness.report.contract.shared_reasons import shared_reasons
from harness.report.shared.junit import properties
from harness.report.shared.run_metadata import name_of, run_metadata
from suites.selfcheck.fixtures import contract_folder

SCHEMA = Path(__file__).parents[3] / "reports" / "report.schema.json"


def check(report: object) -> None:
    """Raise where the report is not what the schema says."""
    schema: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(report)


def published(folder: RunFolder, verdicts: tuple[Verdict, ...]) -> dict[str, Any]:
    """Publish and read report.json back."""
    publish(folder, contract_folder.rows(), verdicts)
    report: dict[str, Any] = json.loads((folder.path / "report.json").read_text(encoding="utf-8"))
    return report


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The report of a run with every status; not to be changed."""
    return published(contract_folder.make(tmp_path_factory.mktemp("report") / "run"), contract_folder.verdicts())


def test_a_run_with_every_status_gives_a_valid_report(report: dict[str, Any]) -> None:
    check(report)
    assert report["summary"] == {
        **{"VIOLATED": 5, "UNDECIDED": 3, "NOT_EXERCISED": 1},
        **{"OUT_OF_REACH": 3, "NOT_OFFERED": 10, "HOLDS": 13},
    }
    assert report["target"]["apis"]["EndTxn"] == [0, 3]
    assert report["seed"] == 1754
    late = next(verdict for verdict in report["verdicts"] if verdict["id"] == contract_folder.LATE)
    assert (late["status"], late["findings"][0]["anomaly"]) == ("VIOLATED", "late-produce-accepted")
    assert late["findings"][0]["steps"] == ["late", "end"]


def test_a_run_without_journal_evidence_or_verdicts_gives_a_valid_report(tmp_path: Path) -> None:
    report = published(RunFolder.create(tmp_path / "run", {}), ())
    check(report)
    assert report["answer"] == "No promise of The target was judged; 35 were not reached."
    assert len(report["not_judged"]) == 35
    assert report["notes"] == ["The run left no journal: it ended before the first exchange."]


def test_a_torn_journal_is_reported(tmp_path: Path) -> None:
    folder = contract_folder.make(tmp_path / "run")
    with (folder.path / "journal.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"number": 7')
    report = published(folder, contract_folder.verdicts())
    assert "torn last line" in report["notes"][0]
    assert "torn last line" in (folder.path / "index.html").read_text(encoding="utf-8")


def test_the_same_folder_gives_the_same_report_twice(tmp_path: Path) -> None:
    folder = contract_folder.make(tmp_path / "run")
    first = published(folder, contract_folder.verdicts()), (folder.path / "index.html").read_text(encoding="utf-8")
    assert first == (published(folder, contract_folder.verdicts()), (folder.path / "index.html").read_text("utf-8"))


@pytest.mark.parametrize(
    "wrong",
    [{"status": "PASSED"}, {"level": "must"}, {"findings": []}, {"status": "HOLDS"}, {"witnesses": -1}],
    ids=str,
)
def test_the_schema_refuses_a_wrong_verdict(report: dict[str, Any], wrong: dict[str, object]) -> None:
    report = deepcopy(report)
    next(verdict for verdict in report["verdicts"] if verdict["status"] == "VIOLATED").update(wrong)
    with pytest.raises(ValidationError):
        check(report)


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ("H" * 40, "K keeps all 40 promises."),
        ("H" * 38 + "OO", "K keeps 38 of 40 promises; 2 are not offered."),
        ("V" * 3 + "H" * 4 + "E", "K breaks 3 of 8 promises and keeps 4; 1 is not exercised."),
        ("VH", "K breaks 1 of 2 promises and keeps 1."),
        ("U", "K keeps 0 of 1 promise; 1 is undecided."),
        ("V", "K breaks the one promise that was judged."),
        ("H", "K keeps the one promise that was judged."),
        ("", "No promise of K was judged."),
    ],
)
def test_the_headline_in_one_sentence(statuses: str, expected: str) -> None:
    assert headline("K", join((), verdicts_of(statuses))) == expected


def verdicts_of(statuses: str) -> list[Verdict]:
    """One MUST verdict a letter: Holds, Violated, Undecided, not Exercised, out of Reach, not Offered."""
    kinds = dict(zip("HVUERO", Status, strict=True))
    return [Verdict(id=f"KIP1-A-{i:02}", level="MUST", status=kinds[letter]) for i, letter in enumerate(statuses)]


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ("HHDD", "K keeps all 4 promises, 2 of them otherwise than Kafka."),
        ("D", "K keeps the one promise that was judged, otherwise than Kafka."),
        ("DD", "K keeps all 2 promises, otherwise than Kafka."),
        ("VHD", "K breaks 1 of 3 promises and keeps 2, 1 of them otherwise than Kafka."),
        ("HDR", "K keeps 2 of 3 promises, 1 of them otherwise than Kafka; 1 is out of reach."),
        ("HX", "K keeps 1 of 2 promises; 1 is not exercised."),
        ("RRO", "No promise of K could be tried; 1 is not offered; 2 are out of reach."),
    ],
)
def test_the_headline_accuses_nobody_of_what_the_profile_does_not_ask_for(statuses: str, expected: str) -> None:
    assert headline("K", join((), judged(statuses), Profile.KIP)) == expected


def judged(statuses: str) -> list[Verdict]:
    """As :func:`verdicts_of`; D differs from Kafka only, X too, and its MUST was not examined to its end."""
    verdicts = verdicts_of(statuses.replace("D", "V").replace("X", "V"))
    rests = {"D": None, "X": Status.NOT_EXERCISED}
    return [
        replace(verdict, level="SHOULD", rest=rests[letter]) if letter in rests else verdict
        for letter, verdict in zip(statuses, verdicts, strict=True)
    ]


def test_the_explanation_says_what_passes_and_by_which_profile() -> None:
    told = explanation(join((), judged("HHDRO"), Profile.KIP))
    assert told.startswith("It passes: every MUST holds, is not offered or is out of reach; 1 differs from Kafka and ")
    assert told.endswith("keeps the KIP, which does not fail with --profile kip.")
    assert explanation(join((), judged("HH"))) == "It passes: every promise holds."
    assert "because of 1 promise" in explanation(join((), judged("HD")))
    assert "because of 1 promise" in explanation(join((), judged("HX"), Profile.KIP))
    assert "nothing can be said" in explanation(join((), judged("RO"), Profile.KIP))


def test_a_harmless_verdict_does_not_hide_a_worse_one() -> None:
    differs, unexercised = judged("DX")
    entries = join((), [replace(unexercised, id=differs.id), differs], Profile.KIP)
    assert [entry.status for entry in entries] == ["NOT_EXERCISED"]


def test_equal_reasons_are_one(report: dict[str, Any]) -> None:
    assert report["profile"] == "kafka"
    entries = join(contract_folder.rows(), contract_folder.verdicts())
    told = [(one.status, one.reason[:24], one.ids) for one in shared_reasons(entries)]
    assert told[0] == ("UNDECIDED", "it crashed: KeyError: 'b", ("KIP890-VERIFY-02", "KIP890-SAFE-01"))
    assert ("OUT_OF_REACH", contract_folder.NO_LINKS[:24], ("KIP890-VERIFY-11", "KIP890-VERIFY-12")) in told
    assert [len(ids) for status, _, ids in told if status == "NOT_OFFERED"] == [10]
    assert not [status for status, _, _ in told if status in ("VIOLATED", "HOLDS")]


def test_reasons_that_differ_in_a_number_or_a_drawn_name_are_one() -> None:
    said = "Produce v12 to broker {} answered NOT_LEADER (6), {} tries"
    named = "Metadata of mine-1a2b-kip1-a-0{}-p1-00ff answered 3"
    texts = (said.format(1, 2), said.format(3, 1), said.format(1, 2), named.format(1), named.format(2), "broker 1 left")
    unseen = [
        replace(verdict, status=Status.NOT_EXERCISED, reason=text)
        for verdict, text in zip(verdicts_of("E" * len(texts)), texts, strict=True)
    ]
    told = [(one.reason, len(one.entries)) for one in shared_reasons(join((), unseen))]
    assert told == [(said.format("…", "…"), 3), ("Metadata of … answered 3", 2), ("broker 1 left", 1)]


def test_levels_and_what_decides_are_in_the_document(tmp_path: Path) -> None:
    report = published(contract_folder.make(tmp_path / "run", Profile.KIP), contract_folder.verdicts())
    check(report)
    by_id = {verdict["id"]: verdict for verdict in report["verdicts"]}
    habit, unfinished = by_id["KIP890-VERIFY-05"], by_id["KIP890-SAFE-02"]
    assert (report["profile"], report["passes"]) == ("kip", False)
    assert (habit["status"], habit["level"], habit["passes"]) == ("VIOLATED", "SHOULD", True)
    assert habit["findings"][0]["level"] == "SHOULD"
    assert (unfinished["rest"], unfinished["passes"]) == ("NOT_EXERCISED", False)
    assert unfinished["access"] == ["links", "changes"]
    assert by_id["KIP890-VERIFY-11"]["passes"]


def test_trying_again_does_not_hide_a_failure() -> None:
    broken, held = verdicts_of("V")[0], verdicts_of("H")[0]
    assert [entry.status for entry in join((), (broken, held))] == ["VIOLATED"]
    assert [entry.status for entry in join((), (held, broken))] == ["VIOLATED"]


def test_known_failures_do_not_stand_in_the_way_but_stale_ones_do() -> None:
    broken, held = verdicts_of("V")[0], verdicts_of("H")[0]
    assert explanation(join((), [replace(broken, known_failure="KAFKA-1")])).startswith("It passes")
    assert "because of 1 promise" in explanation(join((), [replace(held, known_failure="KAFKA-1")]))
    assert "because of 1 promise" in explanation(join((), [broken]))
    assert explanation(join((), [replace(broken, level="SHOULD")], Profile.KIP)).startswith("It passes")


def test_the_name_of_the_target() -> None:
    assert name_of("kafka:3.5.2", "anything") == "Kafka 3.5.2"
    assert name_of("dist:/a.tgz", "Kafka 4.4.0-rc1 from /a.tgz, three brokers") == "Kafka 4.4.0-rc1"
    assert name_of("external:h:9092", "Redpanda 26.1, three brokers") == "Redpanda 26.1"
    assert name_of("external:h:9092", "") == "external:h:9092"


def test_junit_properties_are_printable_and_name_the_anomaly() -> None:
    row = next(row for row in contract_folder.rows() if row.id == "KIP890-VERIFY-01")
    verdict = next(verdict for verdict in contract_folder.verdicts() if verdict.id == row.id)
    parts = properties(row, replace(verdict, known_failure="a\x00b\x1b[31m"), Profile.KIP)
    assert ("anomaly", "late-produce-accepted") in parts
    assert {("status", "VIOLATED"), ("profile", "kip"), ("level", "MUST")} <= set(parts)
    assert dict(parts)["known_failure"] == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}[31m"


def test_the_command_of_a_folder_is_found_under_its_older_name_too() -> None:
    assert run_metadata({"command": "fencepost chaos kafka:4.3.1"}).command == "fencepost chaos kafka:4.3.1"
    assert run_metadata({"again": "fencepost chaos kafka:3.5.2"}).command == "fencepost chaos kafka:3.5.2"
