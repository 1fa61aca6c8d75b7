"""``--against`` of chaos: the test by itself, and how it is told."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.app.cli import parser
from harness.app.options import chaos_options
from harness.base.json_value import Json
from harness.base.user_error import ExitCode
from harness.evidence.history.kept_session import keep_session
from harness.report.chaos import earlier_session, publish_session
from harness.report.chaos.compared.rank_test import rank_test
from harness.report.chaos.compared.session_times import SIGNIFICANT, ComparedTimes, compared
from suites.selfcheck.fixtures import chaos_folders
from suites.selfcheck.fixtures.user_errors import raises_user_error
from suites.selfcheck.report.test_chaos_pages import report_in

VALUES = st.lists(st.floats(0, 1e6), min_size=1, max_size=6)


@given(VALUES, VALUES)
def test_the_share_of_pairs_is_counted_and_p_is_the_same_the_other_way_round(
    first: list[float], second: list[float]
) -> None:
    there, back = rank_test({"a": (first, second)}), rank_test({"a": (second, first)})
    assert there is not None
    assert back is not None
    pairs = [(one, other) for one in first for other in second]
    larger = sum(other > one for one, other in pairs) + sum(other == one for one, other in pairs) / 2
    assert there.larger == pytest.approx(larger / len(pairs))
    assert there.larger + back.larger == pytest.approx(1)
    assert abs(there.p - back.p) < 0.1
    assert 0 < there.p <= 1


def test_p_is_near_that_of_every_arrangement() -> None:
    found = rank_test({"a": ([1, 2, 3, 4], [5, 6, 7, 8])})
    assert found is not None
    assert found.p == pytest.approx(2 / 70, abs=0.01)
    assert found.least == pytest.approx(2 / 70)
    assert rank_test({"a": ([1, 2], [])}) is None


def test_without_a_difference_one_test_in_forty_says_so() -> None:
    draw, alarms = Random(7), 0
    for _ in range(60):
        values = [draw.expovariate(1) for _ in range(24)]
        found = rank_test({"a": (values[:12], values[12:])})
        alarms += found is not None and found.p < SIGNIFICANT
    assert alarms <= 5


def test_scenarios_are_compared_with_themselves_alone() -> None:
    slow_and_fast = {"slow": ([1000.0] * 6, [1000.0] * 6), "fast": ([1.0] * 6, [1.0] * 6)}
    found = rank_test(slow_and_fast)
    assert found is not None
    assert (found.larger, found.p) == (0.5, 1.0)


def times(**scenarios: list[Json]) -> dict[str, Json]:
    return {"settle time": dict(scenarios), "time to recover": {}}


def settle(before: dict[str, Json], now: dict[str, Json]) -> ComparedTimes:
    return next(each for each in compared(before, now) if each.measure == "settle time")


def test_a_round_that_did_not_settle_counts_as_longer_than_all_others() -> None:
    quick: list[Json] = [float(n) for n in range(1, 9)]
    found = settle(times(a=quick), times(a=[None] * 8, only_now=[1.0]))
    assert (found.conclusion, found.longer, found.now_ms, found.rounds_now) == ("slower", 1.0, None, 8)
    assert settle(times(a=[None] * 8), times(a=quick)).conclusion == "faster"
    assert settle(times(a=quick), times(a=quick)).conclusion == "no difference shown"


def test_too_few_rounds_are_told_as_such() -> None:
    assert settle(times(a=[1.0, 2.0]), times(a=[9.0, 9.5])).conclusion == "too few rounds"
    nothing = settle(times(a=[1.0]), times(b=[1.0]))
    assert (nothing.conclusion, nothing.p, nothing.rounds_before) == ("too few rounds", None, 0)


def rounds_with(home: Path, settled: list[float]) -> list[Path]:
    folders = [chaos_folders.clean(home / f"{nth:03d}") for nth, _ in enumerate(settled)]
    for folder, ms in zip(folders, settled, strict=True):
        run: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        run["facts"] = {"settle": {"settled_ms": ms}, "probes": [{"committed": True, "ms": 5.0}]}
        (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
        (folder / "history").mkdir()
    return folders


def test_the_page_and_the_document_tell_a_regression_and_need_the_earlier_session_no_more(tmp_path: Path) -> None:
    before = rounds_with(tmp_path / "before", [100.0 + n for n in range(8)])
    now = rounds_with(tmp_path / "now", [300.0 + n for n in range(8)])
    keep_session(tmp_path / "now", "fencepost chaos …", earlier_session(before))
    text = publish_session(tmp_path / "now", now).read_text(encoding="utf-8")
    assert "Against an earlier session" in text
    assert "permutation test of Mann and Whitney" in text
    told = {each["measure"]: each for each in report_in(tmp_path / "now")["against"]["times"]}
    assert told["settle time"]["conclusion"] == "slower"
    assert told["settle time"]["p"] < SIGNIFICANT
    assert (told["settle time"]["before_ms"], told["settle time"]["now_ms"]) == (103.5, 303.5)
    assert told["time to recover"]["conclusion"] == "no difference shown"


def test_an_earlier_session_without_rounds_is_one_sentence(tmp_path: Path) -> None:
    given = parser().parse_args(["chaos", "kafka:4.3.1", "--against", str(tmp_path)])
    with raises_user_error(ExitCode.EVIDENCE_UNREADABLE, "--against .* holds no round of chaos"):
        chaos_options(given, target=given.target)
