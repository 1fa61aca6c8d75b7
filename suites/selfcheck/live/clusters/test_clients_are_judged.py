"""Runs on clients on a real cluster: one is judged, one fails in the middle and is told; nothing is left running.

Needs Java, and once Maven and Go. Starts two clusters.
"""

import json
from pathlib import Path

import psutil
import pytest

from harness.base.user_error import ExitCode
from harness.clients.stdio.adapter_name import adapter_command
from suites.selfcheck.clients.stdio.programs import but
from suites.selfcheck.fixtures.command import fencepost
from suites.selfcheck.fixtures.controlled_clients import adapter

pytestmark = pytest.mark.live

ID, CLIENT = "KIP691-J-03", "librdkafka:2.16.1"
POSITIONS = "KIP447-CLI-01"
ASKING = """
import json
import subprocess
import sys

program = subprocess.Popen({command}, stdin=subprocess.PIPE, text=True)
for line in sys.stdin:
    call = json.loads(line)
    wish = {{"looks_up_positions": True}} if call["call"] == "open" else {{}}
    program.stdin.write(json.dumps({{**call, **wish}}) + "\\n")
    program.stdin.flush()
program.stdin.close()
sys.exit(program.wait())
"""
"""The same adapter, which is asked to look up positions."""
CRASHING = but('case "init" | "commit": refused(call["id"], "NoBroker")', 'case "init": sys.exit(3)')


def test_one_is_judged_and_another_fails_in_the_middle(tmp_path: Path) -> None:
    crashing = adapter(tmp_path, "crashing", CRASHING)
    words = ("--clients", f"{CLIENT},{crashing}", "--select", ID, "--backend", "process")
    ended = fencepost("clients", *words, "--report-dir", str(tmp_path / "run"), cwd=tmp_path)
    assert ended.returncode == ExitCode.BROKEN, ended.stdout + ended.stderr
    assert "ended with exit code 3 before it answered init" in " ".join(ended.stdout.split())
    assert "Traceback" not in ended.stdout + ended.stderr
    judged, failed = (
        json.loads((tmp_path / "run" / place / "report.json").read_text(encoding="utf-8"))["verdicts"][0]
        for place in ("librdkafka-2.16.1", "crashing")
    )
    assert (judged["witnesses"] > 0, failed["status"]) == (True, "NOT_EXERCISED")
    page = (tmp_path / "run" / "librdkafka-2.16.1" / "index.html").read_text(encoding="utf-8")
    assert "by the gate" in page
    assert 'href="librdkafka-2.16.1/index.html#' in (tmp_path / "run" / "clients.html").read_text(encoding="utf-8")
    left = [each.pid for each in psutil.process_iter() if str(tmp_path) in " ".join(words_of(each))]
    assert left == []


def test_a_position_that_is_not_stable_is_waited_for_where_the_adapter_is_asked_to(tmp_path: Path) -> None:
    asking = adapter(tmp_path, "asking", ASKING.format(command=[*map(str, adapter_command(CLIENT, print).command)]))
    words = ("--clients", f"{CLIENT},{asking}", "--select", POSITIONS, "--backend", "process")
    ended = fencepost("clients", *words, "--report-dir", str(tmp_path / "run"), cwd=tmp_path)
    by_itself, asked = (
        json.loads((tmp_path / "run" / place / "report.json").read_text(encoding="utf-8"))["verdicts"][0]
        for place in ("librdkafka-2.16.1", "asking")
    )
    assert by_itself["status"] == "VIOLATED"
    assert [each["anomaly"] for each in by_itself["findings"]] == ["begins-anew"]
    assert (asked["status"], asked["findings"]) == ("HOLDS", []), asked
    assert ended.returncode == ExitCode.KEPT, ended.stdout  # the first is a known failure


def words_of(process: psutil.Process) -> list[str]:
    """Its command line; none of one that is gone."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []
