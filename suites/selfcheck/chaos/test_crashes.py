"""A round in which Fencepost itself fails: reported in one sentence, kept, and never taken for one that holds."""

from pathlib import Path

import pytest

from harness.app.chaos.chaos_session import ChaosSession, Crashed
from harness.base.paths import SCENARIOS
from harness.base.seed import Seed
from harness.chaos.plan.chaos_options import ChaosOptions
from harness.chaos.plan.chaos_round import Round
from harness.chaos.plan.scenario_catalogue import find_scenarios, select_scenarios
from harness.chaos.play.environment import Environment
from harness.cluster.run_options import RunOptions
from harness.evidence.history.judgement import Judgement
from harness.report.chaos.session_results import read_session
from harness.report.shared.words import NOT_JUDGED


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ChaosSession:
    """A session whose rounds begin and crash."""

    def perform(_environment: Environment, round_: Round) -> Judgement:
        round_.begin({"target": "kafka:4.3.1"})
        raise LookupError("no such partition\nand a long tale")

    monkeypatch.setattr("harness.app.chaos.chaos_session.perform", perform)
    run = RunOptions(
        target="kafka:4.3.1", backend="process", seed=Seed(3), folder=tmp_path / "run", progress=lambda _sentence: None
    )
    return ChaosSession(
        options=ChaosOptions(run=run, scenarios=select_scenarios("late-produce", find_scenarios(SCENARIOS)))
    )


def test_a_crash_is_one_sentence_with_the_place_of_its_trace(session: ChaosSession) -> None:
    round_ = session.rounds[0]
    with pytest.raises(Crashed, match=r"LookupError: no such partition\); the trace is in .*/crash\.txt$"):
        session.examine(round_)
    assert "and a long tale" in (round_.folder / "crash.txt").read_text()
    assert (round_.folder / "index.html").is_file()


def test_a_session_with_a_crash_does_not_pass(session: ChaosSession) -> None:
    with pytest.raises(Crashed):
        session.examine(session.rounds[0])
    session.close()
    read = read_session(session.options.run.folder, session.folders)
    assert (read.tally, read.passes) == ({NOT_JUDGED: 1}, False)
    assert read.headline.startswith("It was not shown")


def test_one_that_crashed_before_it_began_leaves_its_trace_alone(
    session: ChaosSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def perform(_environment: Environment, _round: Round) -> Judgement:
        raise OSError("nothing there")

    monkeypatch.setattr("harness.app.chaos.chaos_session.perform", perform)
    round_ = session.rounds[0]
    with pytest.raises(Crashed):
        session.examine(round_)
    assert [path.name for path in round_.folder.iterdir()] == ["crash.txt"]
    assert session.folders == []
