"""The model beside released brokers: what defends agrees with it, what does not is found by a blind search."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.base.user_error import ExitCode
from harness.evidence.run_folder import RunFolder
from harness.explore.findings import CELLS
from suites.model.mutants.all_mutants import MUTANTS
from suites.model.refuted import read_seen_grid
from suites.selfcheck.fixtures.command import fencepost

SEED = ("--seed", "1", "--backend", "process")


def rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Of a folder's cells."""
    yield from map(json.loads, (folder / CELLS).read_text(encoding="utf-8").splitlines())


def test_the_newest_release_agrees_and_refutes_wrong_models(tmp_path: Path) -> None:
    ended = fencepost("explore", "kafka:4.3.1", *SEED, "--limit", "900", "--report-dir", str(tmp_path))
    assert ended.returncode == ExitCode.KEPT, ended.stdout + ended.stderr
    assert {row["outcome"] for row in rows(tmp_path)} == {"agrees"}
    assert len(list(rows(tmp_path))) == 900
    assert "900 cells on kafka:4.3.1" in (tmp_path / "index.html").read_text(encoding="utf-8")
    grid = read_seen_grid(tmp_path)
    mutants = [mutant for mutant in MUTANTS if mutant.shown_by is grid.shows]
    refuted = [mutant for mutant in mutants if grid.refuting(mutant) is not None]
    assert len(refuted) >= len(mutants) // 3  # by the nearest states alone


def test_a_release_without_verification_differs_from_one_that_has_it(tmp_path: Path) -> None:
    words = ("compare", "kafka:3.9.2", "kafka:3.5.2", *SEED, "--limit", "400", "--walks", "5s")
    ended = fencepost(*words, "--report-dir", str(tmp_path))
    assert ended.returncode == ExitCode.BROKEN, ended.stdout + ended.stderr
    assert {row["outcome"] for row in rows(tmp_path / "first")} == {"agrees"}
    differing = [row for row in rows(tmp_path / "second") if row["outcome"] == "differs"]
    assert any(row["request"].startswith("Produce v9, A, own") for row in differing)
    assert "kafka:3.9.2 shows INVALID_PRODUCER_ID_MAPPING; kafka:3.5.2 shows NONE" in ended.stdout
    assert "walks that were cut of kafka:3.9.2 and kafka:3.5.2 compared" in ended.stdout
    kept = [json.loads(line) for line in (tmp_path / "walks.jsonl").read_text(encoding="utf-8").splitlines()]
    assert min(len(walk["steps"]) for walk in kept) <= 3
    assert "walk 1, after" in (tmp_path / "compared.html").read_text(encoding="utf-8")


def test_walks_that_were_told_nothing_find_the_hole_and_are_cut_to_it(tmp_path: Path) -> None:
    words = ("explore", "kafka:3.5.2", *SEED, "--walks", "60s", "--defended", "--report-dir", str(tmp_path))
    ended = fencepost(*words)
    assert ended.returncode == ExitCode.BROKEN, ended.stdout + ended.stderr
    (found,) = map(json.loads, (tmp_path / "walks.jsonl").read_text(encoding="utf-8").splitlines())
    assert len(found["steps"]) <= 3
    assert "own.produce(" in ended.stdout


def test_timeouts_moves_and_messages_that_wait_agree(tmp_path: Path) -> None:
    words = ("explore", "kafka:4.3.1", *SEED, "--slow", "--limit", "5300", "--report-dir", str(tmp_path))
    ended = fencepost(*words)
    assert ended.returncode == ExitCode.KEPT, ended.stdout + ended.stderr
    found = Counter((row["state"].rpartition("; ")[2].split(" v")[0], row["outcome"]) for row in rows(tmp_path))
    coordinators = ("its coordinator has moved", "another coordinator loads")
    events = (*coordinators, "its timeout has passed", "the yes to a write")
    assert {what: found[what, "agrees"] for what in events if found[what, "agrees"] <= 100} == {}
    assert any(state.startswith("markers wait") for state, _ in found)
    assert not any(outcome == "differs" for _, outcome in found)


def test_walks_that_are_interrupted_are_kept_and_gone_on_with(tmp_path: Path) -> None:
    words = ("explore", "kafka:3.9.2", *SEED, "--walks", "10s")
    whole = fencepost(*words, "--report-dir", str(tmp_path / "first"))
    assert whole.returncode == ExitCode.KEPT, whole.stdout + whole.stderr
    before = RunFolder.open(tmp_path / "first", kind="explore").run()
    more = fencepost(*words, "--resume", str(tmp_path / "first"), "--report-dir", str(tmp_path / "second"))
    assert more.returncode == ExitCode.KEPT, more.stdout + more.stderr
    after = RunFolder.open(tmp_path / "second", kind="explore").run()
    assert int(str(after["rounds"])) > int(str(before["rounds"])) > 0
    assert int(str(after["walks"])) > int(str(before["walks"])) > 0
