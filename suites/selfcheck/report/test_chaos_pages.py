"""Pages and documents of chaos: the headline first, the schema kept, hostile strings harmless, what is cut named."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from harness.base.json_value import Json
from harness.base.user_error import ExitCode
from harness.evidence.history.judgement import CheckResult, Judgement
from harness.evidence.history.kept_session import keep_session
from harness.evidence.history.timeline import (
    Timeline,
    TimelineOperation,
    WatermarkLine,
    WatermarkPoint,
    load_timeline,
    save_timeline,
)
from harness.evidence.json_codec import from_json
from harness.report.chaos import publish_round, publish_session
from harness.report.chaos.round_facts import facts
from harness.report.chaos.round_picture import left_out, picture
from harness.report.chaos.round_results import RoundResults, explanation, headline, read_round, warnings
from harness.report.chaos.session_results import read_session
from harness.report.chaos.swimlanes import operations_of_findings
from harness.report.shared.junit import chaos_properties
from suites.selfcheck.fixtures import chaos_folders
from suites.selfcheck.fixtures.page_reader import PageReader
from suites.selfcheck.fixtures.user_errors import raises_user_error

SCHEMA = Path(__file__).parents[3] / "reports" / "chaos.schema.json"


def check(report: object) -> None:
    """Raise where the report is not what the schema says."""
    schema: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(report)


def report_in(folder: Path) -> dict[str, Any]:
    """``report.json`` of a folder, checked against the schema."""
    report: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    check(report)
    return report


def concluded(*checks: CheckResult, folder: Path) -> RoundResults:
    """A round with these checks and no timeline."""
    return read_round(chaos_folders.write(folder / "round", chaos_folders.RUN, Judgement(checks=checks), None))


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = chaos_folders.broken(tmp_path_factory.mktemp("chaos") / "broken")
    publish_round(folder)
    return folder


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = chaos_folders.broken(tmp_path_factory.mktemp("chaos") / "hostile", hostile=True)
    return publish_round(folder).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("chaos") / "session"
    rounds = [
        chaos_folders.broken(home / "001"),
        chaos_folders.clean(home / "002"),
        chaos_folders.unjudged(home / "003"),
    ]
    for folder in rounds:
        publish_round(folder)
    publish_session(home, rounds)
    return home


def test_a_broken_round_gives_a_valid_report(broken: Path) -> None:
    report = report_in(broken)
    assert (report["conclusion"], report["passes"]) == ("VIOLATED", False)
    assert report["anomalies"] == {"hanging-transaction": 1, "stuck-lso": 1}
    assert [fault["name"] for fault in report["faults"] if not fault["struck"]] == ["drop-response"]
    assert report["committed"] > 100
    found = next(check for check in report["checks"] if check["name"] == "nothing-is-left-open")["findings"]
    assert found[1]["anomaly"] == "stuck-lso"
    assert found[1]["operations"]


def test_a_session_gives_a_valid_report_with_links_that_lead_somewhere(session: Path) -> None:
    report = report_in(session)
    assert [each["conclusion"] for each in report["rounds"]] == ["VIOLATED", "HOLDS", "NOT_JUDGED"]
    assert report["passes"] is False
    assert all((session / each["page"]).is_file() for each in report["rounds"])
    links = [has["href"] for tag, has in PageReader((session / "index.html").read_text()).elements if tag == "a"]
    assert [link for link in links if link and not link.startswith("#")] == [f"00{n}/index.html" for n in (1, 2, 3)]


def test_a_session_is_run_again_by_its_own_command_and_not_by_its_first_rounds(tmp_path: Path) -> None:
    rounds = [chaos_folders.broken(tmp_path / "001"), chaos_folders.clean(tmp_path / "002")]
    assert "Run it all again" not in publish_session(tmp_path, rounds).read_text(encoding="utf-8")
    keep_session(tmp_path, "fencepost chaos kafka:3.5.2 --seed 7 --budget 600s")
    text = publish_session(tmp_path, rounds).read_text(encoding="utf-8")
    assert "fencepost chaos kafka:3.5.2 --seed 7 --budget 600s" in text.partition("Run it all again")[2]


def test_a_session_without_rounds_does_not_pass(tmp_path: Path) -> None:
    assert "No round of chaos was run." in PageReader(publish_session(tmp_path, []).read_text(encoding="utf-8")).text
    assert report_in(tmp_path)["passes"] is False


@pytest.mark.parametrize(
    "wrong",
    [{"conclusion": "PASSED"}, {"anomalies": {}}, {"passes": True}, {"operations": -1}, {"conclusion": "HOLDS"}],
    ids=str,
)
def test_the_schema_refuses_a_wrong_round(broken: Path, wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        check({**report_in(broken), **wrong})


def test_the_answer_comes_first_and_in_words(broken: Path) -> None:
    expected = headline(read_round(broken))
    assert expected.startswith(
        "Kafka 3.5.2 leaves transactions hanging and leaves the last stable offset stuck; shown by"
    )
    page = PageReader((broken / "index.html").read_text(encoding="utf-8"))
    text = " ".join(page.text.split())
    assert text.index("leaves transactions hanging") < text.index("It does not pass") < text.index("Checks")


@pytest.mark.parametrize(
    ("result", "expected", "explained"),
    [
        ({"witnesses": 3}, "Kafka 3.5.2 keeps its transaction promises", "It passes: of 1 checks 1 holds"),
        ({"undecided": "two logs"}, "It cannot be said whether", "It does not pass: of 1 checks 1 undecided"),
        ({}, "Nothing was shown of Kafka 3.5.2", "It does not pass: of 1 checks 1 not exercised"),
        ({"counts": {"new-one": 2}}, "Kafka 3.5.2 shows “new-one”", "It does not pass: of 1 checks 1 violated; 2 find"),
    ],
    ids=str,
)
def test_the_headline_for_each_conclusion(
    tmp_path: Path, result: dict[str, Any], expected: str, explained: str
) -> None:
    round_ = concluded(CheckResult(**{"name": "a", "statement": "A", "witnesses": 0, **result}), folder=tmp_path)
    assert headline(round_).startswith(expected)
    assert explanation(round_).startswith(explained)


def test_the_headline_names_the_clients_that_somebody_chose(tmp_path: Path) -> None:
    round_ = concluded(CheckResult(name="a", statement="A", witnesses=3), folder=tmp_path)
    usual = replace(round_, run={**round_.run, "clients": ["librdkafka", "./mine"]})
    chosen = replace(usual, run={**usual.run, "clients_are_judged": True})
    assert headline(usual).startswith("Kafka 3.5.2 keeps its transaction promises")
    assert headline(chosen).startswith("Kafka 3.5.2 with librdkafka, ./mine keeps its transaction promises")


def test_only_rounds_that_hold_let_a_session_pass(tmp_path: Path) -> None:
    held = chaos_folders.clean(tmp_path / "held")
    assert read_session(tmp_path, [held]).passes
    assert not read_session(tmp_path, [held, chaos_folders.unjudged(tmp_path / "unjudged")]).passes


def test_a_fault_that_did_not_strike_is_a_warning(broken: Path) -> None:
    assert warnings(read_round(broken))[0].startswith("1 of 5 faults did not strike, and so proved nothing: drop-resp")
    text = PageReader((broken / "index.html").read_text(encoding="utf-8")).text
    assert text.count("DID NOT STRIKE") == 1
    assert "D drop-response: did not strike" in text


def test_a_finding_is_shown_with_its_log_operations_and_faults(broken: Path) -> None:
    page = (broken / "index.html").read_text(encoding="utf-8")
    (part,) = re.findall(r'<details class="req[^>]*id="stuck-lso-1".*?</details>', page, flags=re.DOTALL)
    offsets = [
        int(found)
        for found in re.findall(r'<tr(?: class="accused")?><td class="num">(\d+)</td><td>\d+ / \d+</td>', part)
    ]
    assert offsets == sorted(offsets)
    assert len(offsets) == 15
    accused = re.findall(r'<tr class="accused"><td class="num">(\d+)</td>', part)
    stuck = json.loads((broken / "judgement.json").read_text())["checks"][5]["findings"][1]
    assert accused == [str(stuck["offset"]), str(stuck["operations"][0])]
    assert {"COMMIT", "ABORT"} <= set(re.findall(r">(COMMIT|ABORT)<", part))
    assert "Produce requests held until" in part


def test_a_stuck_partition_stands_out_in_the_picture(broken: Path) -> None:
    page = (broken / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'class="name stuck"[^>]*>([^<]+)', page) == ["…accounts-1"]
    assert page.count('class="lso stuck"') == 1
    assert re.search(r"the gap was \d+ at its widest, at \d+\.\d+ s; stuck since 9\.\d+ s, for 10\.\d+ s", page)


def test_every_fault_phase_role_and_partition_is_in_the_picture(broken: Path) -> None:
    timeline = load_timeline(broken)
    assert timeline is not None
    drawn = picture(timeline, None)
    for word in ("teller-0", "teller-3", "…accounts-2", "A latency", "E kill", "storm", "settle"):
        assert f">{word}<" in drawn, word
    assert "<title>fp-77-accounts-2</title>" in drawn
    assert drawn.count('<rect class="op ') == len(timeline.drawn)
    assert left_out(timeline) == ""


def test_nothing_is_loaded_from_outside_and_no_script_runs(broken: Path, hostile: str, session: Path) -> None:
    for page in ((broken / "index.html").read_text(), hostile, (session / "index.html").read_text()):
        elements = PageReader(page).elements
        loaded = [url for tag, has in elements for url in (has.get("src"), has.get("href")) if url and tag != "a"]
        assert [url for url in loaded if not url.startswith(("data:", "#"))] == []
        assert [tag for tag, _ in elements].count("script") == 0
        assert not re.search(r"url\((?!data:)|@import", page)


def test_hostile_strings_stay_text(hostile: str) -> None:
    assert "<script>alert" not in hostile
    assert hostile.count("&lt;script&gt;alert") > 15
    assert "\u202e" not in hostile
    ids = [has["id"] for _, has in PageReader(hostile).elements if "id" in has]
    assert len(ids) == len(set(ids))


def test_the_page_of_a_round_that_was_not_judged_reports_it(session: Path) -> None:
    text = PageReader((session / "003" / "index.html").read_text(encoding="utf-8")).text
    assert "was not judged" in text
    assert "There is no verdict in this folder." in text


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("run.json", "{"),
        ("run.json", "[]"),
        ("judgement.json", '{"checks": [{}]}'),
        ("timeline.json", '{"started": "now"}'),
        ("timeline.json", "\udce9"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path, file: str, content: str) -> None:
    folder = chaos_folders.broken(tmp_path / "round")
    (folder / file).write_text(content, encoding="utf-8", errors="surrogateescape")
    with raises_user_error(ExitCode.EVIDENCE_UNREADABLE, str(folder)):
        publish_round(folder)


def test_what_the_picture_leaves_out_is_listed() -> None:
    point = WatermarkPoint(at=0.0, high_watermark=1, last_stable_offset=1)
    lines = tuple(WatermarkLine(topic="t", partition=number, points=(point,), samples=1) for number in range(20))
    timeline = Timeline(
        started=0.0, ended=9.0, operations=90, drawable=70, committed=1, levels=lines, partitions_in_all=60
    )
    text = left_out(timeline)
    assert text == "Not drawn: 70 of 70 operations (drawn by lot), 48 partitions."
    assert picture(timeline, None).count('class="hw"') == 12


def test_an_empty_history_still_gives_a_picture(tmp_path: Path) -> None:
    timeline = Timeline(started=0.0, ended=0.0, operations=0, drawable=0, committed=0)
    save_timeline(tmp_path, timeline)
    assert load_timeline(tmp_path) == timeline
    assert picture(timeline, None).startswith("<svg")


def test_an_accused_operation_that_the_lot_left_out_is_drawn_from_its_finding(broken: Path) -> None:
    judgement = from_json(Judgement, (broken / "judgement.json").read_text(encoding="utf-8"))
    timeline = load_timeline(broken)
    assert timeline is not None
    kept = operations_of_findings(judgement, timeline)
    assert len(kept) == 1
    assert operations_of_findings(judgement, replace(timeline, drawn=())) == kept
    assert isinstance(kept[0], TimelineOperation)


def test_facts_of_any_shape_are_shown_as_text() -> None:
    settle = {"settled_ms": 164.5, "in_sync": {"ms": 58.7, "not_yet": []}, "stable": {"not_yet": ["accounts-1"]}}
    probes = [{"broker": 1, "committed": True, "ms": 352.6}, {"broker": 2, "committed": False, "ms": 9_000.0}]
    spark = {"batches": 11, "restarts": [{"cause": "killed", "in_mid_batch": True, "resumed_after": 0}]}
    noted: dict[str, Any] = {
        "clients": ["wire-v1"],
        "settle": settle,
        "probes": probes,
        "spark": spark,
        "drain_notes": [],
    }
    assert dict(facts({"facts": noted})) == {
        "settle settled": "164 ms",
        "settle in sync": "59 ms",
        "settle stable not yet": "accounts-1",
        "probes": "1 of 2 committed, the slowest in 9 s",
        "spark batches": "11",
        "spark restarts": "1: cause killed, resumed after 0, in mid batch",
    }
    assert facts({"facts": "none"}) == facts({}) == ()


def test_junit_properties_name_the_anomalies_and_are_printable(broken: Path) -> None:
    judgement = from_json(Judgement, (broken / "judgement.json").read_text(encoding="utf-8"))
    found = chaos_properties(replace(judgement, notes=("torn\x1b[31m",)), chaos_folders.RUN)
    assert {("conclusion", "VIOLATED"), ("anomaly", "stuck-lso"), ("seed", "8128"), ("findings", "2")} <= set(found)
    assert ("note", "torn\N{REPLACEMENT CHARACTER}[31m") in found


def test_the_page_names_the_client_of_each_role(tmp_path: Path) -> None:
    noted: dict[str, Json] = {
        "played_by": {"teller-0": "java:4.3.1", "teller-1": "<b>./mine"},
        "client_notes": ["it crashed"],
    }
    judged = Judgement(checks=(), notes=("it crashed",))
    folder = chaos_folders.write(tmp_path / "round", {**chaos_folders.RUN, "facts": noted}, judged, None)
    page = PageReader(publish_round(folder).read_text(encoding="utf-8"))
    assert "teller-0: java:4.3.1, teller-1: <b>./mine" in page.text
    assert page.text.count("it crashed") == 1
