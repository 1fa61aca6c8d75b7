"""Servers that are no Kafka, judged as a vendor would: each failure is a breach that is explained by their source."""

import signal
from pathlib import Path

import pytest

from harness.base.addresses import Address
from harness.base.user_error import ExitCode
from suites.selfcheck.fixtures.command import fencepost
from suites.selfcheck.fixtures.kfake_server import kfake, require_kfake
from suites.selfcheck.fixtures.mock_server import mock_server
from suites.targets.explanations import read_explanations, unexplained
from suites.targets.target_runs import TargetRun, judged
from suites.targets.target_shapes import SHAPES

BY_NAME = {shape.name: shape for shape in SHAPES}


def judged_as_explained(name: str, folder: Path, *ids: str) -> dict[str, str]:
    """The status of each of these requirements on a target; nothing that fails may lack an explanation."""
    run: TargetRun = judged(BY_NAME[name], folder / name, ",".join(ids))
    assert list(unexplained(read_explanations(), run)) == []
    assert run.exit_code == ExitCode.BROKEN
    return {verdict["id"]: verdict["status"] for verdict in run.verdicts}


def test_kfake_is_judged_on_what_it_answers(tmp_path: Path) -> None:
    require_kfake()
    wanted = ("KIP890-FEAT-01", "KIP890-VERIFY-06", "KIP360-INIT-07", "KIP890-BUMP-14", "KIP890-VERIFY-04")
    found = judged_as_explained("kfake", tmp_path, *wanted)
    assert found == dict(zip(wanted, ("HOLDS", "HOLDS", "VIOLATED", "VIOLATED", "VIOLATED"), strict=True))


def test_an_older_kfake_offers_less_and_breaks_the_same(tmp_path: Path) -> None:
    require_kfake()
    wanted = ("KIP890-BUMP-05", "KIP890-VERIFY-06", "KIP360-INIT-07", "KIP890-VERIFY-02")
    found = judged_as_explained("kfake-3.9", tmp_path, *wanted)
    assert found == dict(zip(wanted, ("NOT_OFFERED", "HOLDS", "VIOLATED", "VIOLATED"), strict=True))


def test_the_mock_cluster_is_judged_on_what_it_answers(tmp_path: Path) -> None:
    wanted = ("KIP890-SAFE-04", "KIP890-VERIFY-01", "KIP890-VERIFY-06", "KIP360-INIT-04", "KIP890-BUMP-05")
    found = judged_as_explained("librdkafka-mock", tmp_path, *wanted)
    assert found == dict(zip(wanted, ("VIOLATED",) * 4 + ("NOT_OFFERED",), strict=True))


def test_what_ends_the_mock_cluster_is_judged_last_on_a_server_of_its_own(tmp_path: Path) -> None:
    found = judged_as_explained("librdkafka-mock", tmp_path, "KIP360-INIT-13", "KIP890-VERIFY-06")
    assert list(found) == ["KIP360-INIT-13", "KIP890-VERIFY-06"]
    assert found["KIP360-INIT-13"] == "VIOLATED"
    assert found["KIP890-VERIFY-06"] != "NOT_EXERCISED", "it had no server"


def test_a_server_that_dies_is_told_once_and_ends_nothing_of_ours(tmp_path: Path) -> None:
    with mock_server() as server:
        wanted = "KIP360-INIT-13,KIP360-INIT-17,KIP890-VERIFY-06"
        words = ("--select", wanted, "--report-dir", str(tmp_path / "run"))
        ended = fencepost("qualify", f"external:{server.bootstrap}", *words)
        assert server.process.wait(10) == -signal.SIGSEGV
    assert ended.returncode == ExitCode.BROKEN, ended.stdout + ended.stderr
    assert "KIP890-VERIFY-06    NOT_EXERCISED" in ended.stdout
    assert "Connection refused" in ended.stdout
    told = " ".join(ended.stdout.split())
    assert told.count("no broker answers since KIP360-INIT-13 was tried; where that ends the server, ") == 1
    assert "--select '!KIP360-INIT-13': 2 requirements: KIP360-INIT-17, KIP890-VERIFY-06" in told


@pytest.mark.parametrize("brokers", [1, 2, 30])
def test_a_cluster_of_any_size_is_judged(brokers: int, tmp_path: Path) -> None:
    require_kfake()
    with kfake(listen=[Address("127.0.0.1", 0)] * brokers) as bootstrap:
        first = bootstrap.split(",")[0] if brokers > 1 else bootstrap
        words = ("--select", "KIP890-VERIFY-06,KIP890-FEAT-01,KIP890-IMPL-01", "--report-dir", str(tmp_path / "run"))
        ended = fencepost("qualify", f"external:{first}", *words)
    assert ended.returncode == ExitCode.KEPT, ended.stdout + ended.stderr
    assert ended.stdout.count(" HOLDS ") == 3
