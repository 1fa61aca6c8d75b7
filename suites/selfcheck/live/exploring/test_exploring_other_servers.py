"""The grid on servers that are no Kafka: what is not as the model says is told, and what was compared is kept."""

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from threading import Thread

from harness.base import wait
from harness.base.paths import ROOT
from harness.base.user_error import ExitCode
from harness.explore.findings import CELLS, SEEN
from suites.selfcheck.fixtures.command import fencepost
from suites.selfcheck.fixtures.kfake_server import kfake, require_kfake


def explored(target: str, folder: Path, *words: str) -> tuple[int, str]:
    """Exit code, and what was told."""
    ended = fencepost("explore", target, "--seed", "1", "--report-dir", str(folder), *words)
    return ended.returncode, ended.stdout + ended.stderr


def rows(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / CELLS).read_text().splitlines()]


def test_a_server_with_rules_of_its_own_differs(tmp_path: Path) -> None:
    require_kfake()
    with kfake() as bootstrap:
        code, told = explored(f"external:{bootstrap}", tmp_path, "--limit", "127")
    assert code == ExitCode.BROKEN, told
    found = {row["cell"]: row for row in rows(tmp_path)}
    outcomes = Counter(str(row["outcome"]) for row in found.values())
    assert outcomes["agrees"] > 10
    assert outcomes["differs"] > 10
    assert not any("WriteTxnMarkers" in str(row["request"]) for row in found.values())
    # pkg/kfake, txns.go: a producer id is looked for among those of all transactional ids
    assert "AddPartitionsToTxn v1, add A, another id's, in «unknown id»" in told
    assert {row["cell"] for row in map(json.loads, (tmp_path / SEEN).read_text().splitlines())} == found.keys()


def test_markers_are_written_where_changes_are_allowed(tmp_path: Path) -> None:
    require_kfake()
    with kfake() as bootstrap:
        _code, told = explored(f"external:{bootstrap}", tmp_path, "--limit", "127", "--allow-changes")
    assert any("WriteTxnMarkers" in str(row["request"]) for row in rows(tmp_path)), told


def test_a_target_that_is_lost_on_the_way_is_one_sentence(tmp_path: Path) -> None:
    require_kfake()
    ended: list[tuple[int, str]] = []
    with kfake() as bootstrap:
        words = (f"external:{bootstrap}", tmp_path, "--limit", "30000")
        exploring = Thread(target=lambda: ended.append(explored(*words)))
        exploring.start()
        wait.until((tmp_path / CELLS).exists, what="the first cells", timeout_seconds=60)
    exploring.join()  # the command has a bound of its own
    ((code, told),) = ended
    assert code == ExitCode.TARGET_UNREACHABLE, told
    assert "was lost after" in told
    assert "Traceback" not in told
    assert rows(tmp_path)


def test_a_target_that_does_not_show_its_states_is_one_sentence(tmp_path: Path) -> None:
    require_kfake()
    with kfake(release="2.7") as bootstrap:
        code, told = explored(f"external:{bootstrap}", tmp_path)
    assert code == ExitCode.TARGET_UNREACHABLE, told
    assert "does not offer DescribeProducers, DescribeTransactions" in told


def test_an_interrupt_keeps_what_was_compared_and_another_exploration_goes_on(tmp_path: Path) -> None:
    require_kfake()
    first, second, limit = tmp_path / "first", tmp_path / "second", 4_000
    with kfake() as bootstrap:
        words = ("explore", f"external:{bootstrap}", "--seed", "1", "--limit", str(limit), "--report-dir", str(first))
        with subprocess.Popen(
            [sys.executable, "-m", "harness", *words],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as running:
            wait.until((first / CELLS).exists, what="the first cells", timeout_seconds=60)
            running.send_signal(signal.SIGINT)
            told = running.communicate(timeout=60)[0]
        kept = {row["cell"] for row in rows(first)}
        code, more = explored(f"external:{bootstrap}", second, "--resume", str(first))
    assert running.returncode == ExitCode.INTERRUPTED, told
    assert f"{len(kept)} of " in told
    assert f"--resume {first}" in told
    assert (first / "SEALED").exists()
    assert code == ExitCode.BROKEN, more
    found = [row["cell"] for row in rows(second)]
    assert len(found) == len(set(found)) > len(kept)
    assert kept < set(found)
