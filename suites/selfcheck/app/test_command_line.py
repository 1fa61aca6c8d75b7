"""The command: what it prints, the one sentence for what is wrong, and the exit codes. No broker starts."""

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from harness.__main__ import main as entry
from harness.app.cli import main
from harness.base.paths import ROOT
from harness.base.user_error import ExitCode
from suites.selfcheck.fixtures.command import fencepost


def test_the_catalogue_for_machines_has_what_readers_need(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json"]) == ExitCode.KEPT
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) >= 40
    for row in rows:
        assert set(row) >= {"id", "level", "source", "kip", "file", "accepts", "refuses", "refuted_by", "statement"}
        assert row["accepts"] >= 1
        assert row["refuses"]
        assert row["refuted_by"]
        assert (ROOT / row["file"]).is_file()


def test_the_catalogue_for_people_has_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == ExitCode.KEPT
    assert "KIP890-BUMP-05" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "exit_code", "sentence"),
    [
        (("qualify", "nonsense"), ExitCode.USAGE, "not a target"),
        (("qualify", "kafka:1.1.0"), ExitCode.TARGET_UNKNOWN, "too old"),
        (("qualify", "kafka:latest"), ExitCode.TARGET_UNKNOWN, "not a Kafka version"),
        (("qualify", "external:nohost"), ExitCode.USAGE, "host:port"),
        (("qualify", "dist:/no/such.tgz"), ExitCode.TARGET_UNKNOWN, "no such file"),
        (("qualify", "kafka:4.3.1", "--select", "NO-SUCH"), ExitCode.USAGE, "NO-SUCH"),
        (("qualify", "kafka:4.3.1", "--broker-property", "nonsense"), ExitCode.USAGE, "key=value"),
        (("qualify", "external:127.0.0.1:1"), ExitCode.TARGET_UNREACHABLE, "127.0.0.1:1"),
        (("replay", "/no/such/run"), ExitCode.EVIDENCE_UNREADABLE, "no run folder"),
        (("chaos", "kafka:4.3.1", "--scenarios", "no-such"), ExitCode.USAGE, "no-such is no scenario"),
        (("chaos", "kafka:4.3.1", "--budget", "soon"), ExitCode.USAGE, "no length of time"),
        (("chaos", "kafka:4.3.1", "--after", "."), ExitCode.USAGE, "only a session with --budget"),
        (("chaos", "kafka:4.3.1", "--budget", "9m", "--after", "."), ExitCode.EVIDENCE_UNREADABLE, "no round of chaos"),
        (
            ("chaos", "kafka:4.3.1", "--budget", "9m", "--after", "no.json"),
            ExitCode.EVIDENCE_UNREADABLE,
            "or the visited.json of one",
        ),
        (("chaos", "external:127.0.0.1:1", "--topics", "a,b"), ExitCode.USAGE, "chaos makes topics of its own"),
        (("falsify", "--select", "NO-SUCH"), ExitCode.USAGE, "NO-SUCH"),
        (("up", "nonsense"), ExitCode.USAGE, "not a target"),
    ],
)
def test_an_error_is_one_sentence_and_an_exit_code(
    words: tuple[str, ...], exit_code: ExitCode, sentence: str, tmp_path: Path
) -> None:
    folder = ["--report-dir", str(tmp_path / "run")] if words[0] not in ("replay", "up") else []
    ended = fencepost(*words, *folder, cwd=tmp_path)
    assert ended.returncode == exit_code, ended.stderr
    assert sentence in ended.stderr + ended.stdout
    assert "Traceback" not in ended.stderr + ended.stdout


def test_a_missing_tool_is_named_with_its_remedy(tmp_path: Path) -> None:
    bare = {"PATH": str(tmp_path), "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    ended = fencepost("qualify", "kafka:4.3.1", "--backend", "process", "--report-dir", str(tmp_path / "run"), env=bare)
    assert ended.returncode == ExitCode.TOOL_MISSING
    assert "java" in ended.stderr + ended.stdout
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("words", [("--help",), ("qualify", "--help"), ("up", "--help"), ("list", "--help")])
def test_every_help_is_longer_than_its_usage(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    assert ended.value.code == 0
    assert len(capsys.readouterr().out.splitlines()) > 3


def test_an_unknown_word_is_a_usage_error() -> None:
    with pytest.raises(SystemExit) as ended:
        main(["qualfy", "kafka:4.3.1"])
    assert ended.value.code == ExitCode.USAGE


def test_an_interrupt_during_the_import_of_the_command_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupting(ModuleType):
        def __getattr__(self, name: str) -> object:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "harness.app.cli", Interrupting("harness.app.cli"))
    for handler in ("raise_interrupts", "ignore_interrupts"):  # ours stay as they are
        monkeypatch.setattr(f"harness.__main__.{handler}", lambda: None)
    assert entry() == ExitCode.INTERRUPTED
    assert capsys.readouterr().err == "fencepost: interrupted\n"


DROPPED = """
from threading import Event
from harness.base.interrupts import raise_interrupts

class Finalised:
    def __del__(self):
        raise KeyboardInterrupt

raise_interrupts()
Finalised()
try:
    Event().wait(20)
    print('not handled')
except KeyboardInterrupt:
    print("handled")
"""


def test_an_interrupt_that_python_drops_in_a_finaliser_is_sent_again() -> None:
    ran = subprocess.run([sys.executable, "-c", DROPPED], capture_output=True, text=True, timeout=60, check=True)
    assert (ran.stdout, ran.stderr) == ("handled\n", "")
