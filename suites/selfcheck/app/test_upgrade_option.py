"""``fencepost chaos --upgrade``: what is started, what is played, and what is said of one that cannot be had."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

import pytest

from harness.app import options
from harness.app.option_table import declare
from harness.base.user_error import ExitCode
from harness.clients.stdio.adapter_name import AdapterCommand
from suites.selfcheck.fixtures.command import fencepost
from suites.selfcheck.fixtures.user_errors import raises_user_error


def given(tmp_path: Path, *words: str) -> Namespace:
    parser = ArgumentParser()
    declare("chaos", parser.add_argument)
    return parser.parse_args([*words, "--backend", "process", "--report-dir", str(tmp_path / "run"), "--seed", "7"])


@pytest.fixture(autouse=True)
def _nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "adapter_command", lambda name, _: AdapterCommand(name=name, command=[]))


@pytest.mark.parametrize(("upgrade", "target"), [("3.9.2..4.3.1", ""), ("3.9.2..", "kafka:4.3.1")])
def test_every_node_begins_with_the_one_release_and_only_upgrades_are_played(
    upgrade: str, target: str, tmp_path: Path
) -> None:
    chosen = options.chaos_options(given(tmp_path, "--upgrade", upgrade), target=target)
    assert chosen.run.target == "kafka:4.3.1"
    assert chosen.run.cluster.releases == dict.fromkeys((1, 2, 3, 4), "3.9.2")
    assert [scenario.name for scenario in chosen.scenarios] == ["brokers-taken-back", "brokers-upgraded"]
    again = chosen.command(chosen.scenarios[0], chosen.run.seed, 8)
    assert again.startswith(
        "fencepost chaos kafka:4.3.1 --scenarios brokers-taken-back --seed 7 --seconds 8 --upgrade 3.9.2.."
    )


def test_without_it_no_upgrade_is_played(tmp_path: Path) -> None:
    chosen = options.chaos_options(given(tmp_path), target="kafka:4.3.1")
    assert not any(scenario.upgrades for scenario in chosen.scenarios)
    assert chosen.run.cluster.releases == {}


@pytest.mark.parametrize(
    ("upgrade", "target", "sentence"),
    [
        ("3.9.2..", "", r"--upgrade 3\.9\.2\.\.: name what to upgrade to"),
        ("3.9.2..4.3.1", "kafka:4.2.1", r"--upgrade ends at kafka:4\.3\.1, and the target is kafka:4\.2\.1: name one"),
        ("3.9.2..", "external:h:1", r"--upgrade 3\.9\.2\.\.: .*; name a target that is started here"),
    ],
)
def test_what_is_no_upgrade_is_refused(upgrade: str, target: str, sentence: str, tmp_path: Path) -> None:
    asked = given(tmp_path, "--upgrade", upgrade)
    asked.backend = "auto"
    with raises_user_error(ExitCode.USAGE, sentence):
        options.chaos_options(asked, target=target)


def test_words_that_are_no_upgrade_are_told_how_to_write_one(tmp_path: Path) -> None:
    ended = fencepost("chaos", "--upgrade", "soon", cwd=tmp_path)
    assert ended.returncode == ExitCode.USAGE
    assert "'soon' is no upgrade: write 3.9.2..4.3.1" in ended.stderr


def test_a_session_without_a_target_says_how_to_name_one(tmp_path: Path) -> None:
    ended = fencepost("chaos", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (
        ExitCode.USAGE,
        "fencepost: name a target: fencepost chaos kafka:4.3.1\n",
    )
