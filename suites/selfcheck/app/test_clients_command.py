"""``fencepost clients`` without a broker: who is judged, what is told, how it ends, and what is left for machines."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from harness.base.paths import CLIENTS
from harness.base.user_error import ExitCode
from harness.contract.catalogue.requirement_catalogue import find
from suites.selfcheck.fixtures.command import fencepost
from suites.selfcheck.fixtures.controlled_clients import adapter, clients_judged
from suites.selfcheck.fixtures.controlled_run import NOT_EXERCISED, VIOLATED, replayed

ID = "KIP691-J-03"
SELECT = ("--select", ID)
ONE, TWO = "./one", "./two"
BROKEN = f"{ID} of {TWO}"


@pytest.fixture(name="home")
def _home(tmp_path: Path) -> Path:
    """A folder with two programs that are adapters."""
    for name in ("one", "two"):
        adapter(tmp_path, name)
    return tmp_path


def both(home: Path, *words: str, outcomes: Mapping[str, str] | None = None) -> CompletedProcess[str]:
    """Both are asked the one requirement; the run folder is ``run``."""
    return clients_judged(home / "run", *SELECT, *words, clients=(ONE, TWO), outcomes=outcomes or {})


def test_its_help_names_its_options() -> None:
    ended = fencepost("clients", "--help")
    assert ended.returncode == 0
    for flag in ("--clients", "--known-clients", "--write-known-clients", "--target", "--select"):
        assert flag in ended.stdout


@pytest.mark.parametrize("clients", ["jawa:4.3.1", "jawa:4.3.1,java:4.3.1", "./nowhere", "java,java", ","])
def test_a_name_that_is_no_clients_is_one_sentence_before_anything_starts(tmp_path: Path, clients: str) -> None:
    ended = fencepost("clients", "--clients", clients, "--report-dir", str(tmp_path / "run"), cwd=tmp_path)
    assert ended.returncode == ExitCode.USAGE, ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists() or not list((tmp_path / "run").glob("*/run.json"))


def test_one_client_under_two_names_is_a_wrong_use(home: Path) -> None:
    ended = clients_judged(home / "run", *SELECT, clients=(ONE, ".//one"), outcomes={})
    assert ended.returncode == ExitCode.USAGE
    assert ended.stderr == "fencepost: --clients: one is named twice\n"


def test_each_line_names_its_client_and_the_end_tells_each_thing_once(home: Path) -> None:
    ended = both(home, outcomes={BROKEN: VIOLATED})
    assert ended.returncode == ExitCode.BROKEN, ended.stdout + ended.stderr
    lines = [line for line in ended.stdout.splitlines() if re.match(r"\[\d/2\]", line)]
    assert [ONE in lines[0], TWO in lines[1]] == [True, True]
    assert ended.stdout.count("KIP  ") == 0, "a table for each client"
    assert "1 of 2 clients pass" in ended.stdout
    assert f"{ONE} keeps the one promise that was judged" in ended.stdout
    assert f"{TWO} breaks the one promise that was judged" in ended.stdout
    assert str(home / "run" / "clients.html") in ended.stdout.replace("\n", "")


def test_all_is_well_where_every_client_keeps_what_it_was_asked(home: Path) -> None:
    ended = both(home)
    assert ended.returncode == ExitCode.KEPT, ended.stdout + ended.stderr
    assert "2 of 2 clients pass" in ended.stdout


def test_a_client_that_cannot_be_had_is_not_exercised_and_the_others_go_on(home: Path) -> None:
    adapter(home, "two", "raise SystemExit('no library here')")
    ended = both(home)
    assert ended.returncode == ExitCode.BROKEN, ended.stdout + ended.stderr
    assert f"{ONE} keeps the one promise" in ended.stdout
    assert "Traceback" not in ended.stdout + ended.stderr
    (verdict,) = json.loads((home / "run" / "two" / "report.json").read_text("utf-8"))["verdicts"]
    assert (verdict["status"], "--check" in verdict["reason"]) == ("NOT_EXERCISED", True)


def test_a_missing_toolchain_is_told_with_its_remedy_and_the_others_go_on(home: Path) -> None:
    words = ("clients", "--clients", "sarama", "--report-dir", str(home / "run"))
    ended = fencepost(*words, cwd=home, env={"PATH": str(home), "HOME": str(home)})
    assert ended.returncode == ExitCode.TOOL_MISSING, ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert "Go" in ended.stderr


def test_what_was_not_exercised_is_red(home: Path) -> None:
    ended = both(home, outcomes={BROKEN: NOT_EXERCISED})
    assert ended.returncode == ExitCode.BROKEN
    assert "Not exercised" in ended.stdout


def known(home: Path, client: str) -> tuple[str, str]:
    """A list of known failures of that client; the option that names its folder."""
    folder = home / "known"
    folder.mkdir(exist_ok=True)
    (folder / f"{client}.txt").write_text(f"{ID} | its library retries | https://example.org/1\n", encoding="utf-8")
    return "--known-clients", str(folder)


def test_a_known_failure_of_one_client_is_its_alone(home: Path) -> None:
    words = known(home, "two")
    assert both(home, *words, outcomes={BROKEN: VIOLATED}).returncode == ExitCode.KEPT
    (home / "run").rename(home / "before")
    ended = both(home, *words, outcomes={f"{ID} of {ONE}": VIOLATED, BROKEN: VIOLATED})
    assert ended.returncode == ExitCode.BROKEN


def test_a_known_failure_that_no_longer_fails_is_red(home: Path) -> None:
    ended = both(home, *known(home, "two"))
    assert ended.returncode == ExitCode.BROKEN
    assert "Known failures that no longer fail" in ended.stdout


def test_a_list_is_written_for_each_client_that_breaks_something_and_can_be_read(home: Path) -> None:
    ended = both(home, "--write-known-clients", str(home / "lists"), outcomes={BROKEN: VIOLATED})
    assert ended.returncode == ExitCode.BROKEN
    assert ID in (home / "lists" / "two.txt").read_text("utf-8")
    (home / "run").rename(home / "before")
    again = both(home, "--known-clients", str(home / "lists"), outcomes={BROKEN: VIOLATED})
    assert again.returncode == ExitCode.KEPT, again.stdout


def test_machines_learn_which_client_it_was(home: Path) -> None:
    both(home, outcomes={BROKEN: VIOLATED})
    junit = (home / "run" / "junit.xml").read_text("utf-8")
    assert [f'name="{ID} {client}"' in junit for client in (ONE, TWO)] == [True, True]
    assert f'<property name="client" value="{TWO}"' in junit
    results = [json.loads(file.read_text("utf-8")) for file in (home / "run" / "allure-results").glob("*-result.json")]
    stories = {label["value"] for result in results for label in result["labels"] if label["name"] == "story"}
    assert (stories, len({result["historyId"] for result in results})) == ({ONE, TWO}, 2)
    assert json.loads((home / "run" / "two" / "report.json").read_text("utf-8"))["client"] == TWO


def test_a_replay_of_the_session_ends_as_it_did_and_the_matrix_takes_it(home: Path) -> None:
    both(home, outcomes={BROKEN: VIOLATED})
    assert replayed(home / "run" / "one").returncode == ExitCode.KEPT
    assert replayed(home / "run").returncode == ExitCode.BROKEN
    page = home / "matrix.html"
    assert fencepost("matrix", str(home / "run"), "--into", str(page)).returncode == ExitCode.KEPT
    text = page.read_text("utf-8")
    assert f'href="run/two/index.html#{ID}"' in text
    assert "Versions spoken" in text
    assert "not as on the left" not in text


def test_the_list_has_the_promises_of_clients() -> None:
    rows = json.loads(fencepost("list", "--clients", "--json").stdout)
    assert [row["id"] for row in rows] == [entry.requirement.id for entry in find(CLIENTS)]
