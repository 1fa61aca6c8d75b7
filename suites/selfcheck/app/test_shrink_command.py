"""``fencepost shrink`` from its command to its result, with rounds that are made up."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.app.cli import main
from harness.base.user_error import ExitCode
from harness.chaos.plan.chaos_round import Round
from harness.chaos.plan.plan_file import read_plan, write_plan
from harness.chaos.plan.round_plan import RoundPlan
from harness.chaos.play.environment import Environment
from harness.evidence.history.judgement import Judgement
from harness.report.chaos.round_results import read_round
from suites.selfcheck.chaos.test_plans import drawn
from suites.selfcheck.fixtures import chaos_folders

PLAN = drawn("late-produce")


def has_writer_2(plan: RoundPlan) -> bool:
    return any(role.name == "writer-2" for role in plan.roles) and bool(plan.faults)


@pytest.fixture
def red(tmp_path: Path) -> Path:
    """The folder of a red round."""
    folder = chaos_folders.broken(tmp_path / "001-late-produce")
    write_plan(folder / "plan.toml", PLAN)
    return folder


def plays(
    monkeypatch: pytest.MonkeyPatch, shows: Callable[[RoundPlan], bool], *, interrupted_at: int = 0
) -> list[RoundPlan]:
    """Let each round leave a red folder or a green one, by its plan."""
    played: list[RoundPlan] = []

    def perform(_environment: Environment, round_: Round) -> Judgement:
        assert round_.plan is not None
        played.append(round_.plan)
        if len(played) == interrupted_at:
            raise KeyboardInterrupt
        left = (chaos_folders.broken if shows(round_.plan) else chaos_folders.clean)(round_.folder)
        judgement = read_round(left).judgement
        assert judgement is not None
        return judgement

    monkeypatch.setattr("harness.app.chaos.chaos_session.perform", perform)
    return played


def test_the_result_is_a_plan_its_command_and_what_is_left(
    red: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    played = plays(monkeypatch, has_writer_2)
    into = tmp_path / "run"
    assert main(["shrink", str(red), "--report-dir", str(into)]) == ExitCode.KEPT
    smallest = read_plan(into / "smallest.toml")
    assert [(role.name, role.transactions) for role in smallest.roles] == [("writer-2", 1)]
    assert len(smallest.faults) == 1
    told = capsys.readouterr()
    assert "still shows hanging-transaction, red in 5 of 5 plays" in told.out
    assert "  roles         4 → 1" in told.out
    assert f"fencepost chaos kafka:3.5.2 --plan {into / 'smallest.toml'}" in told.out
    assert told.err.count("try ") == len(played)
    again = read_round(into / "001-late-produce")
    assert again.conclusion == "VIOLATED"
    page = (into / "index.html").read_text(encoding="utf-8")
    assert f"fencepost shrink {red} --budget 10m --tries 3" in page


def test_a_round_that_is_not_red_again_has_nothing_smaller(
    red: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    played = plays(monkeypatch, lambda _: False)
    assert main(["shrink", str(red), "--tries", "2", "--report-dir", str(tmp_path / "run")]) == ExitCode.BROKEN
    assert played == [PLAN, PLAN]
    assert "was not red again with hanging-transaction; 2 rounds" in capsys.readouterr().out


def test_an_interrupt_leaves_the_smallest_so_far(
    red: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plays(monkeypatch, has_writer_2, interrupted_at=5)
    assert main(["shrink", str(red), "--report-dir", str(tmp_path / "run")]) == ExitCode.INTERRUPTED
    assert has_writer_2(read_plan(tmp_path / "run" / "smallest.toml"))
    told = capsys.readouterr()
    assert "the smallest plan that still shows hanging-transaction" in told.out
    assert told.err.endswith("fencepost: interrupted\n")


def test_a_budget_that_is_over_leaves_the_smallest_so_far(
    red: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    played = plays(monkeypatch, has_writer_2)
    assert main(["shrink", str(red), "--budget", "1s", "--report-dir", str(tmp_path / "run")]) == ExitCode.KEPT
    assert played == [PLAN]
    assert read_plan(tmp_path / "run" / "smallest.toml") == PLAN
    told = capsys.readouterr()
    assert "the budget does not reach for another try" in told.err
    assert "red in 1 of 1 plays" in told.out
