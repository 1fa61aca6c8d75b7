"""``fencepost chaos --clients``: who plays the roles is known before any broker is started."""

import sys
from argparse import ArgumentParser
from pathlib import Path

import pytest

from harness.app import options
from harness.app.cli import main
from harness.app.option_table import declare
from harness.base.paths import SCENARIOS
from harness.base.user_error import ExitCode
from harness.chaos.plan.chaos_options import ChaosOptions
from harness.chaos.plan.scenario_catalogue import find_scenarios
from harness.clients.stdio.adapter_name import AdapterCommand
from suites.selfcheck.clients.stdio.programs import OBEDIENT
from suites.selfcheck.fixtures.command import fencepost

OF_CLIENTS = {"client-killed", "client-paused"}


@pytest.fixture
def adapter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A program that is called ``./mine``."""
    (tmp_path / "mine").write_text(f"#!{sys.executable}\n{OBEDIENT}", encoding="utf-8")
    (tmp_path / "mine").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return "./mine"


def parsed(tmp_path: Path, *words: str) -> ChaosOptions:
    parser = ArgumentParser()
    declare("chaos", parser.add_argument)
    given = parser.parse_args([*words, "--report-dir", str(tmp_path / "run"), "--seed", "7"])
    return options.chaos_options(given, target="kafka:4.3.1")


@pytest.mark.parametrize(
    ("clients", "exit_code", "sentence"),
    [
        ("no-such,./mine", ExitCode.USAGE, "there is no client 'no-such': give one of java, librdkafka"),
        ("./mine,./not-there", ExitCode.USAGE, "there is no program ./not-there"),
        ("./mine,sarama", ExitCode.TOOL_MISSING, "sarama needs Go: go is not on the PATH"),
    ],
)
@pytest.mark.usefixtures("adapter")
def test_what_cannot_be_had_is_one_sentence_before_anything_is_started(
    clients: str, exit_code: ExitCode, sentence: str, tmp_path: Path
) -> None:
    bare = {"PATH": str(tmp_path), "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    words = ("chaos", "kafka:4.3.1", "--clients", clients, "--report-dir", str(tmp_path / "run"))
    ended = fencepost(*words, cwd=tmp_path, env=bare)
    assert (ended.returncode, ended.stdout) == (exit_code, "")
    assert ended.stderr.startswith(f"fencepost: {sentence}")
    assert len(ended.stderr.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_the_scenarios_are_played_by_those_that_are_named(adapter: str, tmp_path: Path) -> None:
    chosen = parsed(tmp_path, "--clients", f"{adapter}, {adapter}", "--scenarios", "zombies-return")
    assert (chosen.clients, list(chosen.programs)) == (["./mine", "./mine"], ["./mine"])
    assert not chosen.programs["./mine"].looks_up_positions  # it is who is judged
    (scenario,) = chosen.scenarios
    assert scenario.clients == ["./mine", "./mine"]
    assert {toxic.name for toxic in scenario.toxics} == {"latency", "lost-response", "move-coordinator"} | OF_CLIENTS


def test_the_command_that_runs_a_round_again_names_the_clients(adapter: str, tmp_path: Path) -> None:
    chosen = parsed(tmp_path, "--clients", adapter)
    again = chosen.command(chosen.scenarios[0], chosen.run.seed, 8)
    assert "--seed 7 --seconds 8 --clients ./mine --backend" in again


def test_without_the_option_all_is_as_the_scenarios_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "adapter_command", lambda name, _: AdapterCommand(name=f"{name}:1.0", command=[]))
    chosen = parsed(tmp_path)
    usual = tuple(each for each in find_scenarios(SCENARIOS) if not each.upgrades)
    assert (chosen.clients, tuple(chosen.scenarios)) == ([], usual)
    assert {name: program.name for name, program in chosen.programs.items()} == {"librdkafka": "librdkafka:1.0"}
    assert chosen.programs["librdkafka"].looks_up_positions
    assert not any(OF_CLIENTS & {toxic.name for toxic in scenario.toxics} for scenario in chosen.scenarios)
    assert "--clients" not in chosen.command(chosen.scenarios[0], chosen.run.seed, 8)


def test_every_workload_meets_the_faults_of_clients() -> None:
    scenarios = find_scenarios(SCENARIOS)
    struck = {each.workload.name for each in scenarios if each.client_toxics}
    assert struck == {each.workload.name for each in scenarios}


def test_the_help_explains_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["chaos", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "--clients NAME,… libraries that play the roles, in turn, each actor a process of its own" in told
