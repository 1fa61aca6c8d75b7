"""``make flakes``: a verdict that differs between runs is found, with the seeds of the rare ones first."""

from suites.flakes.repeated_runs import RepeatedRun, differing, statuses


def run(seed: int, **verdicts: str) -> RepeatedRun:
    return RepeatedRun(seed=seed, exit_code=0, seconds=1.0, verdicts=verdicts)


def test_a_verdict_that_was_not_always_the_same_is_told_with_its_seeds() -> None:
    runs = [run(1, A="HOLDS", B="HOLDS"), run(2, A="VIOLATED: stuck-lso", B="HOLDS"), run(3, A="HOLDS", B="HOLDS")]
    assert differing(runs) == {"A": {"VIOLATED: stuck-lso": [2], "HOLDS": [1, 3]}}
    assert statuses(runs) == {"HOLDS": 5, "VIOLATED": 1}


def test_another_anomaly_differs_and_so_does_a_verdict_that_is_missing() -> None:
    runs = [run(1, A="VIOLATED: a", B="HOLDS"), run(2, A="VIOLATED: b")]
    assert set(differing(runs)) == {"A", "B"}
    assert differing(runs)["B"]["not judged"] == [2]


def test_runs_that_agree_differ_in_nothing() -> None:
    assert differing([run(1, A="VIOLATED: a"), run(2, A="VIOLATED: a")]) == {}
