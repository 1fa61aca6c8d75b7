"""Distributions on the pages and in the documents of chaos: of one round, and over a session's rounds."""

import dataclasses
import json
from pathlib import Path

import pytest

from harness.evidence.history.operation import FaultWindow, Operation, Outcome
from harness.evidence.history.spreads import Interruption, spread_of
from harness.evidence.history.timeline import load_timeline, save_timeline
from harness.report.chaos import publish_round, publish_session
from harness.report.chaos.measured.session_spreads import session_spreads
from harness.report.chaos.round_results import read_round
from suites.selfcheck.fixtures import chaos_folders
from suites.selfcheck.fixtures.plain_spreads import plain_interruptions
from suites.selfcheck.report.test_chaos_pages import report_in


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    folder = chaos_folders.broken(tmp_path / "session" / "001")
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    run["facts"] = {
        "settle": {"settled_ms": 812.0, "in_sync": {"ms": 500.0, "not_yet": []}},
        "probes": [{"committed": True, "ms": 41.0}, {"committed": True, "ms": 1234.0}],
    }
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    return folder


def test_a_round_shows_what_each_fault_was_to_each_client(broken: Path) -> None:
    page = publish_round(broken).read_text(encoding="utf-8")
    told = report_in(broken)["spreads"]
    assert (told["settled_ms"], told["recovered_ms"], told["settle"]) == (812.0, 1234.0, {"in sync": 500.0})
    faults = {each["fault"] for each in told["interruptions"]}
    assert faults == {"late-produce", "latency", "move-coordinator", "kill"}, "what did not strike interrupts nobody"
    assert {each["phase"] for each in told["lags"]} >= {"calm", "storm", "settle"}
    assert all(text in page for text in ("Recovering", "LSO lag, offsets", "time to recover <b>1.23 s</b>"))


def test_a_round_of_before_is_shown_without(broken: Path) -> None:
    timeline = load_timeline(broken)
    assert timeline is not None
    save_timeline(broken, dataclasses.replace(timeline, interruptions=None, lags=None))
    assert "LSO lag, offsets" not in publish_round(broken).read_text(encoding="utf-8")
    assert report_in(broken)["spreads"]["interruptions"] is None


def test_a_session_tells_its_rounds_together(broken: Path) -> None:
    home = broken.parent
    late = chaos_folders.clean(home / "002")
    run = json.loads((late / "run.json").read_text(encoding="utf-8"))
    run.update(scenario="late-produce", facts={"settle": {"settled_ms": None}})
    (late / "run.json").write_text(json.dumps(run), encoding="utf-8")
    page = publish_session(home, [broken, late]).read_text(encoding="utf-8")
    told = report_in(home)["spreads"]
    settle = next(each for each in told["times"] if each["measure"] == "settle time")
    assert (settle["spread"]["most"], settle["spread"]["count"], settle["not_within"]) == (812.0, 1, 1)
    assert "one value a round" in page
    assert {each["fault"] for each in told["faults"]} >= {"kill", "latency"}


def test_medians_are_over_rounds_and_the_longest_is_of_all(broken: Path) -> None:
    round_ = read_round(broken)
    assert round_.timeline is not None

    def with_values(*values: float) -> object:
        one = spread_of(values)
        assert one is not None
        made = Interruption(fault="kill", client="java", faults=1, unavailable=one, recovered=None, not_again=2)
        timeline = dataclasses.replace(round_.timeline, interruptions=(made,), lags=())  # type: ignore[type-var]
        return dataclasses.replace(round_, timeline=timeline)

    (fault,) = session_spreads([with_values(1, 5), with_values(3), with_values(8)]).faults  # type: ignore[list-item]
    assert (fault.rounds, fault.unavailable_median, fault.unavailable_most) == (3, 3, 8)
    assert (fault.recovered_median, fault.recovered_most, fault.not_again) == (None, None, 6)


def commit(actor: str, ended: float) -> Operation:
    return Operation(
        number=int(ended),
        actor=actor,
        client="java",
        verb="commit",
        started=ended - 1,
        ended=ended,
        outcome=Outcome.DONE,
        txn=int(ended),
    )


def test_a_successor_goes_on_in_its_role_and_a_role_that_is_over_did_not_fail_to() -> None:
    fault = FaultWindow(name="kill", kind="process", where="b1", started=100.0, ended=200.0, struck=1, how="killed")
    operations = [commit("a", 90), commit("a.2", 260), commit("b", 110), commit("b", 190)]
    lost = dataclasses.replace(commit("c", 300), outcome=Outcome.REFUSED, error=47)
    (found,) = plain_interruptions([*operations, commit("c", 95), lost], [fault])
    assert (found.unavailable.count, found.unavailable.most) == (3, 200)
    assert found.recovered == spread_of([60])
    assert found.not_again == 1
