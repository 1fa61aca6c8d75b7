"""A fault counts as met only with traffic before it and while it was on; without enough the round shows nothing."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.json_value import Json
from harness.evidence.history.judgement import Judgement
from harness.evidence.history.operation import FaultWindow
from harness.evidence.status import Status
from harness.judge import judge
from harness.judge.checks import traffic
from harness.spark.session.spark_session import SparkHandle, open_session
from suites.selfcheck.fixtures.stories.story import Story, history_of

OPERATION_MS, OPERATIONS_A_TXN = 10, 3
NUMBER = 1


@pytest.fixture(scope="module")
def session() -> Iterator[SparkHandle]:
    """One JVM for this file."""
    with open_session(name="traffic") as opened:
        yield opened


def judged(session: SparkHandle, folder: Path, *faults: tuple[float, int], wanted: Json = None) -> Judgement:
    """Ten transactions from 10 s on, one each 30 ms, and faults of 60 ms by their beginning and strikes."""
    story = Story(name="traffic", number=NUMBER)
    story.init()
    for txn in range(10):
        story.whole(txn)
    story.end()
    for started, struck in faults:
        story.add(
            FaultWindow(
                name="cut", kind="network", where="b1", started=started, ended=started + 60, struck=struck, how="x"
            )
        )
    history = history_of(session.spark, [story], folder)
    run: dict[str, Json] = {**history.run, "facts": {} if wanted is None else {traffic.MINIMUM: wanted}}
    return judge(replace(history, run=run))


def status_of(judgement: Judgement) -> tuple[Status, int, str]:
    (check,) = (check for check in judgement.checks if check.name == traffic.CHECK.name)
    return check.status, check.witnesses, check.reason


def test_a_history_that_asks_for_no_minimum_is_judged_without(session: SparkHandle, tmp_path: Path) -> None:
    judgement = judged(session, tmp_path, (10_150, 1))
    assert status_of(judgement) == (Status.NOT_EXERCISED, 0, "the round asks for no minimum of traffic")
    assert judgement.status is Status.HOLDS


def test_a_fault_in_the_midst_of_traffic_is_a_witness(session: SparkHandle, tmp_path: Path) -> None:
    judgement = judged(session, tmp_path, (10_150, 1), wanted={"before": 3, "during": 2})
    assert status_of(judgement) == (Status.HOLDS, 1, "")
    assert judgement.status is Status.HOLDS


@pytest.mark.parametrize(
    ("started", "told"),
    [(10_020, "0 of 3 before"), (11_000, "0 of 2 during")],
    ids=["before anything was committed", "when nobody asked"],
)
def test_a_round_whose_faults_met_nothing_shows_nothing(
    session: SparkHandle, tmp_path: Path, started: float, told: str
) -> None:
    judgement = judged(session, tmp_path, (started, 1), (10_150, 0), wanted={"before": 3, "during": 2})
    status, witnesses, reason = status_of(judgement)
    assert (status, witnesses) == (Status.NOT_EXERCISED, 0)
    assert told in reason
    assert judgement.status is Status.NOT_EXERCISED
    assert judgement.lacking == reason


def test_half_of_the_faults_are_enough(session: SparkHandle, tmp_path: Path) -> None:
    judgement = judged(session, tmp_path, (10_150, 1), (11_000, 1), wanted={"before": 3, "during": 2})
    assert status_of(judgement)[:2] == (Status.HOLDS, 1)
