"""The judge can be trusted: it finds nothing in what is sound, and names everything that is not, and only that.

Thousands of histories of a modelled sound broker, with every legal doubt, are judged clean; each anomaly, planted in
twenty and more of them in every way that we know, is found, named right, and nothing else is named. Many histories
are in one folder, so that this takes one JVM and a few judgements.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from harness.base.paths import ROOT
from harness.evidence.history.anomalies import find_anomalies
from harness.evidence.history.judgement import HistoryFinding, Judgement
from harness.evidence.status import Status
from harness.judge.all_checks import CHECKS
from harness.spark.session.spark_session import SparkHandle, open_session
from harness.spark.session.spark_settings import Build
from suites.selfcheck.fixtures.histories.plant_cases import PLANTS, PlantCase
from suites.selfcheck.fixtures.histories.trial import Planted, by_history, clean, judged, judged_folder, planted

TIMES = 20
BATCH = 1_000
"""Histories judged at a time."""
BATCHES = 2


@pytest.fixture(scope="module")
def session() -> Iterator[SparkHandle]:
    """One JVM for this file."""
    with open_session(name="trust", build=Build(memory="1g")) as opened:
        yield opened


@pytest.fixture(scope="module")
def planted_runs() -> Sequence[Planted]:
    """Every plant, each in many histories."""
    return planted(TIMES)


@pytest.fixture(scope="module")
def verdict(
    session: SparkHandle, planted_runs: Sequence[Planted], tmp_path_factory: pytest.TempPathFactory
) -> Judgement:
    """What the judge says of them all."""
    return judged(session, tmp_path_factory.mktemp("planted") / "run", [one.history for one in planted_runs])


def wrong(planted_runs: Sequence[Planted], found: Mapping[int, Sequence[HistoryFinding]]) -> list[str]:
    """What was named otherwise than planted, one line each."""
    return [
        f"{one}: {sorted(named) or 'nothing'} for {sorted(one.case.expected)}"
        for one in planted_runs
        if (named := {each.anomaly for each in found.get(one.history.number, ())}) != one.case.expected
    ]


def accused(found: Mapping[int, Sequence[HistoryFinding]], seeds: Sequence[int]) -> list[str]:
    """Findings in sound histories, each with the seed of its history."""
    return [
        f"seed {seeds[number]}: {one.anomaly}: {one.detail}" for number, several in found.items() for one in several
    ]


@settings(
    max_examples=BATCHES,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # a batch does not shrink: a finding names the seed of its one history
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(first=st.integers(min_value=0, max_value=10**9))
def test_sound_histories_of_every_workload_are_judged_clean(
    session: SparkHandle, tmp_path_factory: pytest.TempPathFactory, first: int
) -> None:
    seeds = range(first, first + BATCH)
    judgement = judged(session, tmp_path_factory.mktemp("clean") / "run", clean(seeds))
    assert accused(by_history(judgement), seeds) == []
    assert {check.name: check.status for check in judgement.checks} == dict.fromkeys(
        (check.name for check in CHECKS), Status.HOLDS
    ) | {check.name: Status.NOT_EXERCISED for check in CHECKS if not check.anomalies}


def test_every_anomaly_has_a_plant_and_further_anomalies_have_a_reason() -> None:
    assert {case.anomaly for case in PLANTS} == find_anomalies().keys()
    assert {name for case in PLANTS for name in case.plant.brings} <= find_anomalies().keys()
    assert [case.name for case in PLANTS if bool(case.plant.brings) != bool(case.plant.because)] == []


@pytest.mark.parametrize("case", PLANTS, ids=lambda case: case.name)
def test_what_is_planted_is_found_and_named_right_and_nothing_else_is_named(
    verdict: Judgement, planted_runs: Sequence[Planted], case: PlantCase
) -> None:
    mine = [one for one in planted_runs if one.case is case]
    assert len(mine) == TIMES
    assert wrong(mine, by_history(verdict)) == []


def test_nothing_is_found_outside_of_what_was_planted(verdict: Judgement, planted_runs: Sequence[Planted]) -> None:
    assert by_history(verdict).keys() <= {one.history.number for one in planted_runs}


@pytest.mark.parametrize("name", [check.name for check in CHECKS if check.anomalies])
def test_a_check_that_finds_nothing_is_noticed(verdict: Judgement, planted_runs: Sequence[Planted], name: str) -> None:
    silenced = [check for check in verdict.checks if check.name != name]
    assert wrong(planted_runs, by_history(Judgement(checks=tuple(silenced)))) != []


@pytest.mark.parametrize("anomaly", find_anomalies())
def test_an_anomaly_that_is_never_named_is_missed(
    verdict: Judgement, planted_runs: Sequence[Planted], anomaly: str
) -> None:
    named = {
        number: [one for one in several if one.anomaly != anomaly] for number, several in by_history(verdict).items()
    }
    assert wrong(planted_runs, named) != []


def test_the_history_by_hand_of_the_documentation_is_judged_as_it_says(session: SparkHandle, tmp_path: Path) -> None:
    text = (ROOT / "reports" / "HISTORY.md").read_text(encoding="utf-8")
    (tmp_path / "history").mkdir()
    for name, content in re.findall(r"```json file=(\S+)\n(.*?\n)```", text, re.DOTALL):
        (tmp_path / name).write_text(content)
    assert judged_folder(session, tmp_path).anomalies == {"torn-transaction": 1}
    log = tmp_path / "history" / "log.jsonl"
    log.write_text(log.read_text().replace("ABORT", "COMMIT"))
    assert judged_folder(session, tmp_path).anomalies == {}
