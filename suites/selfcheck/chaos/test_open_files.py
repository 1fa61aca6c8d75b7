"""A process may open as many connections as a crowd needs; a crowd has no more ids than that is enough for."""

import resource
from pathlib import Path

import pytest

from harness.chaos.plan.crowd import Crowd
from harness.chaos.play import round_crowd
from harness.machine import open_files
from harness.machine.open_files import allow_open_files, open_files_allowed
from suites.selfcheck.fixtures.kfake_crowd import kfake_brokers, play_until_committed
from suites.selfcheck.fixtures.kfake_server import require_kfake

UNLIMITED = resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((1_024, 524_288), (16_384, 524_288)),
        ((256, UNLIMITED), (16_384, UNLIMITED)),
        ((1_024, 4_096), (4_096, 4_096)),
        ((20_000, 20_000), None),
        ((65_536, 524_288), None),
        ((UNLIMITED, UNLIMITED), None),
    ],
)
def test_the_limit_is_raised_as_far_as_may_be_and_never_lowered(
    before: tuple[int, int], after: tuple[int, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[tuple[int, int]]()
    monkeypatch.setattr(resource, "getrlimit", lambda _: before)
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: asked.append(limits))
    allow_open_files()
    assert asked == ([] if after is None else [after])


def test_where_nothing_is_limited_all_that_is_wanted_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (UNLIMITED, UNLIMITED))
    assert open_files_allowed() == open_files.WANTED


def test_a_crowd_is_smaller_where_few_files_may_be_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_kfake()
    monkeypatch.setattr(round_crowd, "open_files_allowed", lambda: 560)
    with kfake_brokers() as brokers:
        crowd = brokers.crowd(Crowd(seats=20, together=(0,)), tmp_path)
        play_until_committed(crowd, 20)
    assert crowd.facts()["seats"] == 10
