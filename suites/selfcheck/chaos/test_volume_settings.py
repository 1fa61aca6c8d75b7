"""What a session's brokers are started with: followers answered in groups, and both compilers where it pays."""

from pathlib import Path

import pytest

from harness.base.paths import SCENARIOS
from harness.chaos.plan.chaos_options import ChaosOptions
from harness.chaos.plan.scenario_catalogue import find_scenarios
from harness.chaos.plan.volume_settings import BOTH_COMPILERS, GROUPED, LONG_SECONDS, for_volume
from harness.cluster.cluster import ClusterOptions
from harness.cluster.run_options import RunOptions


def test_a_callers_own_settings_win_and_come_last() -> None:
    own = ClusterOptions(properties={"replica.fetch.wait.max.ms": "500"}, jvm_options=("-XX:TieredStopAtLevel=1",))
    found = for_volume(own, seconds=LONG_SECONDS)
    assert found.properties == {**GROUPED, "replica.fetch.wait.max.ms": "500"}
    assert found.jvm_options == (*BOTH_COMPILERS, "-XX:TieredStopAtLevel=1")


def test_the_second_compiler_is_for_clusters_that_live_long() -> None:
    assert for_volume(ClusterOptions(), seconds=LONG_SECONDS - 1).jvm_options == ()
    assert for_volume(ClusterOptions(), seconds=LONG_SECONDS).jvm_options == BOTH_COMPILERS


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        ({}, 48.0),
        ({"round_seconds": 90.0}, 180.0),
        ({"budget_seconds": 600.0}, 600.0),
        ({"upgrade": "3.9.2"}, 28.0),
    ],
    ids=["each scenario once", "rounds of another length", "a budget", "a cluster a round"],
)
def test_how_long_a_cluster_lives(tmp_path: Path, asked: dict[str, float], seconds: float) -> None:
    two = [each for each in find_scenarios(SCENARIOS) if each.name in ("ids-expire", "late-produce")]
    options = ChaosOptions(run=RunOptions(target="kafka:4.3.1", folder=tmp_path), scenarios=two, **asked)  # type: ignore[arg-type]
    assert options.cluster_seconds() == seconds
