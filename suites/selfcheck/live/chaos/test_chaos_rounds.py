"""Rounds of chaos as a user runs them: the anomaly of KIP-890 on an old Kafka, none on a sound one."""

import json
import subprocess
import sys
from pathlib import Path

from harness.base.user_error import ExitCode
from suites.chaos.workloads.careless import Careless
from suites.selfcheck.fixtures.chaos_command import BOUND, PROCESSES, anomalies, chaos


def test_a_late_produce_leaves_a_hanging_transaction_and_a_stuck_lso_on_an_old_kafka(tmp_path: Path) -> None:
    words = ("--scenarios", "late-produce", "--seconds", "14", "--seed", "7000")
    done = chaos(tmp_path / "run", "kafka:3.5.2", *PROCESSES, *words)
    assert done.returncode == ExitCode.BROKEN, done.stdout + done.stderr
    assert anomalies(tmp_path / "run") >= {"hanging-transaction", "stuck-lso"}
    again = "fencepost chaos kafka:3.5.2 --scenarios late-produce --seed 7000 --seconds 14"
    assert again in done.stdout


def test_a_sound_kafka_is_clean_and_its_session_can_be_judged_again_offline(tmp_path: Path) -> None:
    scenarios = "zombies-return,relay-on-the-wire,careless-clients"
    folder, words = tmp_path / "run", ("--scenarios", scenarios, "--seconds", "12", "--seed", "4100")
    done = chaos(folder, "kafka:4.3.1", *PROCESSES, *words)
    assert done.returncode == ExitCode.KEPT, done.stdout + done.stderr
    assert anomalies(folder) == set()
    situations = json.loads((folder / "report.json").read_text(encoding="utf-8"))["situations"]
    assert situations["lacking"] == []
    assert {each["fault"] for each in situations["visited"]} >= {"latency", "move-coordinator"}
    (careless,) = folder.glob("*-careless-clients/run.json")
    used = json.loads(careless.read_text(encoding="utf-8"))["facts"]["used_before"]
    assert {each["epoch"] for each in used} >= {32_766 - left for left in Careless().epochs_left}
    kept = [_kept_and_moved(round_.parent) for round_ in folder.glob("*/run.json")]
    assert all(stayed.isdisjoint(moved) for stayed, moved in kept)
    assert any(stayed and moved for stayed, moved in kept)
    replayed = subprocess.run(
        [sys.executable, "-m", "harness", "replay", str(folder), "--spark-master", "local[2]"],
        capture_output=True,
        text=True,
        timeout=BOUND,
        check=False,
    )
    assert replayed.returncode == ExitCode.KEPT, replayed.stdout + replayed.stderr


def _kept_and_moved(folder: Path) -> tuple[set[str], set[str]]:
    """Partitions of coordinators that stayed, as the round's facts say, and all that its faults moved."""
    facts = json.loads((folder / "run.json").read_text(encoding="utf-8"))["facts"]
    lines = (folder / "history" / "faults.jsonl").read_text(encoding="utf-8").splitlines()
    moved = {name for line in lines for name in (json.loads(line)["moved"] or "").split()}
    return {f"__transaction_state-{index}" for index in facts["coordinators_kept"]}, moved
