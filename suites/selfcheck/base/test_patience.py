"""The patience of a run: full bounds until they were in vain twice, on a clock that only the waiting itself moves."""

from dataclasses import dataclass, field

import pytest

from harness.base.wait import EXHAUSTED_BEFORE, LEAST_SECONDS, SHORT_SECONDS, Patience

TICK = 1 / 16
"""Between two looks: a length whose sums are exact."""


@dataclass(slots=True)
class PausedClock:
    """Time that passes by pausing alone."""

    seconds: float = 100.0
    pauses: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.seconds

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.seconds += seconds


@pytest.fixture
def clock() -> PausedClock:
    return PausedClock()


@pytest.fixture
def patience(clock: PausedClock) -> Patience:
    return Patience(now=clock.now, pause=clock.pause)


def waited(patience: Patience, clock: PausedClock, met_after_seconds: float | None, *kinds: str) -> tuple[bool, float]:
    """Whether a wait of at most 10 s was met, and how long it took."""
    began = clock.now()

    def condition() -> bool:
        return met_after_seconds is not None and clock.now() - began >= met_after_seconds

    met = patience.until(condition, kinds=kinds, timeout_seconds=10, interval_seconds=TICK)
    return met, clock.now() - began


def test_a_kind_has_its_full_bound_until_it_was_in_vain_twice(patience: Patience, clock: PausedClock) -> None:
    lengths = [waited(patience, clock, None, "state")[1] for _ in range(7)]
    assert lengths == [10, 10, 1, 0.5, 0.25, 0.125, 0.125]
    assert patience.bound(10, "state") == LEAST_SECONDS
    assert patience.bound(0.05, "state") == 0.05


def test_another_kind_keeps_its_full_bound(patience: Patience, clock: PausedClock) -> None:
    for _ in range(3):
        waited(patience, clock, None, "state")
    assert waited(patience, clock, 5, "offset") == (True, 5.0)
    assert patience.bound(10, "offset", "state") < SHORT_SECONDS


def test_once_met_it_has_the_full_bound_again(patience: Patience, clock: PausedClock) -> None:
    for _ in range(EXHAUSTED_BEFORE):
        waited(patience, clock, None, "state")
    assert waited(patience, clock, 0.5, "state") == (True, 0.5)
    assert waited(patience, clock, 9, "state") == (True, 9.0)


def test_what_is_met_between_two_failures_makes_them_start_anew(patience: Patience, clock: PausedClock) -> None:
    for length in (None, 3.0, None):
        waited(patience, clock, length, "state")
    assert patience.bound(10, "state") == 10


def test_what_is_there_at_once_was_no_wait(patience: Patience, clock: PausedClock) -> None:
    for _ in range(EXHAUSTED_BEFORE):
        waited(patience, clock, None, "state")
    assert waited(patience, clock, 0, "state") == (True, 0.0)
    assert patience.bound(10, "state") == SHORT_SECONDS


def test_what_has_become_hopeless_ends_at_once_and_is_not_in_vain(patience: Patience, clock: PausedClock) -> None:
    for _ in range(3):
        met = patience.until(lambda: False, kinds=("state",), timeout_seconds=10, hopeless=lambda: True)
        assert not met
    assert clock.pauses == []
    assert patience.bound(10, "state") == 10


def test_a_wait_with_a_bound_of_its_own_takes_no_part(patience: Patience, clock: PausedClock) -> None:
    for _ in range(EXHAUSTED_BEFORE):
        waited(patience, clock, None, "state")
    assert waited(patience.fresh(), clock, None, "state") == (False, 10.0)
    assert patience.bound(10, "state") == SHORT_SECONDS
