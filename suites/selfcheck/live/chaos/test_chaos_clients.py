"""A round whose roles libraries play, each actor a process of its own that is also killed and paused."""

import json
from pathlib import Path

from harness.base.user_error import ExitCode
from suites.selfcheck.fixtures.chaos_command import PROCESSES, anomalies, chaos

PLAYERS = ("librdkafka", "kafka-python")


def test_a_round_of_two_libraries_on_a_sound_kafka_is_clean(tmp_path: Path) -> None:
    folder, words = tmp_path / "run", ("--scenarios", "zombies-return", "--seconds", "12", "--seed", "7")
    done = chaos(folder, "kafka:4.3.1", *PROCESSES, "--clients", ",".join(PLAYERS), *words)
    assert done.returncode == ExitCode.KEPT, done.stdout + done.stderr
    assert anomalies(folder) == set()
    (round_,) = folder.glob("001-*")
    run = json.loads((round_ / "run.json").read_text(encoding="utf-8"))
    playing = {name.partition(":")[0] for name in run["facts"]["played_by"].values()}
    assert playing == set(PLAYERS)
    struck = {fault["name"] for fault in lines(round_, "faults") if fault["struck"]}
    assert struck & {"client-killed", "client-paused"}
    committing = {str(call["client"]).partition(":")[0] for call in lines(round_, "operations") if committed(call)}
    assert committing == {*PLAYERS, "wire-v1"}, "each of them committed, and so did the probes"


def lines(round_: Path, table: str) -> list[dict[str, object]]:
    """A table of the round's history."""
    text = (round_ / "history" / f"{table}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def committed(operation: dict[str, object]) -> bool:
    return (operation["verb"], operation["outcome"]) == ("commit", "done")
