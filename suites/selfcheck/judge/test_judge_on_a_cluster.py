"""The judge says the same from two threads of one JVM and from a cluster of two workers with a JVM each."""

import dataclasses
from pathlib import Path
from random import Random

import pyspark
import pytest

from harness.evidence.history.judgement import CheckResult
from harness.spark.history.seal import seal
from harness.spark.session.spark_session import open_session
from suites.selfcheck.fixtures.histories.history_editor import HistoryEditor
from suites.selfcheck.fixtures.histories.plant_cases import PLANTS
from suites.selfcheck.fixtures.histories.synthetic import drawn, write_folder
from suites.selfcheck.fixtures.histories.trial import judged_folder

ANOMALY = "torn-transaction"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run folder with a sound history and one in which a transaction is torn."""
    rng = Random(1)
    torn = drawn("transfer", 2, rng)
    case = next(case for case in PLANTS if case.anomaly == ANOMALY)
    assert case.plant.change(HistoryEditor(history=torn, rng=rng))
    return write_folder(tmp_path / "run", [drawn("relay", 1, rng), torn])


@pytest.fixture
def spark_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home of Spark's own: its workers write beside ``bin`` and ``jars``, which must not be pyspark's own folder."""
    home = tmp_path / "spark-home"
    home.mkdir()
    for entry in Path(pyspark.__file__).parent.iterdir():
        if entry.name in ("bin", "sbin", "jars", "python"):
            (home / entry.name).symlink_to(entry)
    monkeypatch.setenv("SPARK_HOME", str(home))
    monkeypatch.setenv("SPARK_LOCAL_HOSTNAME", "127.0.0.1")


def verdicts(folder: Path, master: str) -> list[CheckResult]:
    """What the checks say, without how long they took."""
    with open_session(name="cluster", master=master) as session:
        if not (folder / "history" / "seal.json").exists():
            seal(session.spark, folder)
        judgement = judged_folder(session, folder)
    assert judgement.anomalies == {ANOMALY: 1}
    return [dataclasses.replace(check, seconds=0.0) for check in judgement.checks]


@pytest.mark.usefixtures("spark_home")
def test_the_verdicts_are_the_same_from_one_jvm_and_from_a_cluster(folder: Path) -> None:
    assert verdicts(folder, "local[2]") == verdicts(folder, "local-cluster[2,1,1024]")
