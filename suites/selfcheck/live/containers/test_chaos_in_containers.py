"""One short round of chaos whose brokers are containers: faults strike, records are accounted for, nothing is left."""

from pathlib import Path

import pytest

from harness.base.user_error import ExitCode
from suites.selfcheck.fixtures.chaos_command import anomalies, chaos, rounds, struck
from suites.selfcheck.fixtures.engines import left_on_engine

pytestmark = pytest.mark.live


def test_a_round_on_containers_is_clean_and_leaves_nothing(tmp_path: Path) -> None:
    before = left_on_engine()
    words = ("--scenarios", "transfer-through-crashes", "--seconds", "10", "--seed", "3")
    done = chaos(tmp_path / "run", "kafka:4.3.1", "--backend", "docker", *words)
    assert done.returncode == ExitCode.KEPT, done.stdout + done.stderr
    assert anomalies(tmp_path / "run") == set()
    assert struck(rounds(tmp_path / "run")["transfer-through-crashes"])
    assert left_on_engine() == before
