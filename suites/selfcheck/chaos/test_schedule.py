"""The laws of the schedule, for any seed, any toxics and any length; and of the runner of faults."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise, permutations
from random import Random
from threading import Event, Lock, Thread
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.clock import RunClock
from harness.base.json_value import Json
from harness.base.wait import pause
from harness.chaos.plan.scenario import PlannedFault, Scenario, Workload
from harness.chaos.plan.schedule import (
    FIRST_QUIET_SECONDS,
    LAST_QUIET_SECONDS,
    QUIET_SECONDS,
    RECOVERY_SECONDS,
    WINDOW_SECONDS,
    schedule,
)
from harness.chaos.play.fault_runner import run_faults
from harness.evidence.history.operation import FaultWindow
from harness.faults.fault_target import FaultTarget, Powerless
from harness.faults.frame_toxic import EVERY_ID
from harness.faults.toxic import ClusterShape, MinimumDuration, Power, StrikeCount, Toxic, ToxicReach
from toxics.frames import late_end_txn, late_produce

SHAPE = ClusterShape(topics={"accounts": 3}, transactional_ids=("teller",))
NO_WORKLOAD = cast(Workload, None)


@dataclass(slots=True)
class ToxicsOn:
    """Which toxics are on, and which pairs were on together."""

    on: list[str] = field(default_factory=list)
    together: set[tuple[str, str]] = field(default_factory=set)
    lock: Lock = field(default_factory=Lock)


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeToxic:
    """A toxic that notes when it is on; ``fails`` says how."""

    name: str
    power: Power
    disrupts_broker: bool = False
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.LANES,)
    fails: str = ""
    seen: ToxicsOn = field(default_factory=ToxicsOn, compare=False)
    entered: Event = field(default_factory=Event, compare=False)
    entering: Callable[[], object] = field(default=lambda: None, compare=False)

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """Something that depends on both."""
        return {"broker": draw.choice(shape.brokers), "draw": draw.randrange(1000)}

    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> AbstractContextManager[StrikeCount]:  # noqa: ARG002
        """On for the block."""
        if self.fails == "powerless":
            raise Powerless("this backend has no proxies")
        return self._struck()

    @contextmanager
    def _struck(self) -> Iterator[StrikeCount]:
        self.entering()
        with self.seen.lock:
            self.seen.together |= {(other, self.name) for other in self.seen.on}
            self.seen.on.append(self.name)
        self.entered.set()
        strikes = StrikeCount(where="somewhere", how="things struck", struck=3)
        try:
            yield strikes
        finally:
            with self.seen.lock:
                self.seen.on.remove(self.name)
        if self.fails == "healing":
            raise LookupError("broker 1 did not come back")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowToxic:
    """A toxic that needs more than an ordinary fault window."""

    name: str
    power: Power
    disrupts_broker: bool
    acts_on: tuple[ToxicReach, ...] = (ToxicReach.LANES,)
    seconds: float = 9.0

    def draw(self, shape: ClusterShape, draw: Random) -> Mapping[str, Json]:
        """A broker."""
        return {"broker": draw.choice(shape.brokers)}

    def strike(self, fault_target: FaultTarget, chosen: Mapping[str, Json]) -> AbstractContextManager[StrikeCount]:  # noqa: ARG002
        """Only planned, never struck."""
        raise Powerless("only planned")


POWERS = st.sampled_from(Power)
TOXICS: st.SearchStrategy[list[Toxic]] = st.lists(
    st.builds(
        lambda power, takes, lengthy: (power, takes, lengthy),
        POWERS,
        st.booleans(),
        st.integers(0, 5).map(lambda n: n == 0),
    ),
    max_size=9,
).map(
    lambda drawn: [
        (SlowToxic if lengthy else FakeToxic)(name=f"t{n}", power=power, disrupts_broker=takes)
        for n, (power, takes, lengthy) in enumerate(drawn)
    ]
)
SEEDS = st.integers(min_value=0, max_value=2**31)
LENGTHS = st.floats(min_value=1, max_value=180)


def planned(toxics: Sequence[Toxic], seed: int, seconds: float) -> tuple[PlannedFault, ...]:
    """The schedule of a scenario with these toxics."""
    scenario = Scenario(name="s", title="t", workload=NO_WORKLOAD, clients=(), toxics=toxics)
    return schedule(scenario, SHAPE, Random(seed), seconds)


def windows_of(planned_faults: Sequence[PlannedFault]) -> list[list[PlannedFault]]:
    """Faults that are on together."""
    found: list[list[PlannedFault]] = []
    for planned_fault in planned_faults:
        if found and planned_fault.at_ms < max(map(ended, found[-1])):
            found[-1].append(planned_fault)
        else:
            found.append([planned_fault])
    return found


def ended(planned_fault: PlannedFault) -> float:
    """When it is healed, in milliseconds."""
    return planned_fault.at_ms + planned_fault.duration_ms


@given(TOXICS, SEEDS, LENGTHS)
def test_one_seed_fixes_all_of_it(toxics: list[Toxic], seed: int, seconds: float) -> None:
    planned_faults = planned(toxics, seed, seconds)
    assert planned_faults == planned(toxics, seed, seconds)
    assert list(planned_faults) == sorted(planned_faults, key=lambda planned_fault: planned_fault.at_ms)
    assert all(
        json.loads(json.dumps(dict(planned_fault.chosen))) == planned_fault.chosen for planned_fault in planned_faults
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_first_strike_of_a_toxic_concerns_every_id_and_later_ones_may_concern_one(seed: int) -> None:
    toxics = [late_produce.TOXIC, late_end_txn.TOXIC]
    found = planned(toxics, seed, 180)
    for toxic in toxics:
        aims = [str(fault.chosen["transactional_id"]) for fault in found if fault.toxic is toxic]
        assert aims[0] == EVERY_ID
        assert set(aims) == {EVERY_ID, "teller"}


@given(TOXICS, SEEDS, LENGTHS)
def test_there_is_quiet_before_the_first_fault_window_and_after_the_last(
    toxics: list[Toxic], seed: int, seconds: float
) -> None:
    for planned_fault in planned(toxics, seed, seconds):
        assert planned_fault.at_ms >= 1000 * FIRST_QUIET_SECONDS
        assert ended(planned_fault) <= 1000 * (seconds - LAST_QUIET_SECONDS) + 1
        assert planned_fault.duration_ms > 0


@given(TOXICS, SEEDS, LENGTHS)
def test_fault_windows_are_of_their_length_with_quiet_between_them(
    toxics: list[Toxic], seed: int, seconds: float
) -> None:
    found = windows_of(planned(toxics, seed, seconds))
    for one in found:
        length = max(map(ended, one)) - one[0].at_ms
        assert len(one) <= 2
        assert length >= 1000 * WINDOW_SECONDS[0] - 2
        assert length <= 1000 * (9.0 if isinstance(one[0].toxic, MinimumDuration) else WINDOW_SECONDS[1]) + 2
    for one, other in pairwise(found):
        quiet = other[0].at_ms - max(map(ended, one))
        assert 1000 * QUIET_SECONDS[0] - 2 <= quiet <= 1000 * QUIET_SECONDS[1] + 2


@given(TOXICS, SEEDS, LENGTHS)
def test_no_two_need_one_power_or_disrupt_a_broker_near_each_other(
    toxics: list[Toxic], seed: int, seconds: float
) -> None:
    for one, other in permutations(planned(toxics, seed, seconds), 2):
        if one.at_ms <= other.at_ms:
            apart = other.at_ms - ended(one)
            assert apart > 0 or one.toxic.power != other.toxic.power
            assert apart >= 1000 * RECOVERY_SECONDS - 2 or not (
                one.toxic.disrupts_broker and other.toxic.disrupts_broker
            )


@given(TOXICS, SEEDS, st.floats(min_value=0, max_value=60))
def test_every_toxic_strikes_when_there_is_time_and_none_twice_before_all_have(
    toxics: list[Toxic], seed: int, spare: float
) -> None:
    needed = sum(
        (9.0 if isinstance(toxic, MinimumDuration) else WINDOW_SECONDS[0]) + QUIET_SECONDS[1] for toxic in toxics
    )
    planned_faults = planned(toxics, seed, FIRST_QUIET_SECONDS + needed + LAST_QUIET_SECONDS + spare)
    counted = [sum(planned_fault.toxic == toxic for planned_fault in planned_faults) for toxic in toxics]
    assert all(counted)
    assert not counted or max(counted) - min(counted) <= 1


@given(st.lists(POWERS, max_size=9), SEEDS)
def test_faults_that_disrupt_no_broker_need_only_a_short_quiet(powers: list[Power], seed: int) -> None:
    toxics: list[Toxic] = [FakeToxic(name=f"t{n}", power=power) for n, power in enumerate(powers)]
    planned_faults = planned(
        toxics, seed, FIRST_QUIET_SECONDS + len(toxics) * (WINDOW_SECONDS[0] + QUIET_SECONDS[0]) + LAST_QUIET_SECONDS
    )
    assert {planned_fault.toxic.name for planned_fault in planned_faults} == {toxic.name for toxic in toxics}


def test_without_time_or_toxics_there_is_no_fault() -> None:
    assert planned([], 1, 60) == ()
    assert (
        planned(
            [FakeToxic(name="a", power=Power.NETWORK)],
            1,
            FIRST_QUIET_SECONDS + WINDOW_SECONDS[0] + LAST_QUIET_SECONDS - 0.1,
        )
        == ()
    )


def fault_target() -> FaultTarget:
    """Nothing but a clock."""
    return FaultTarget(cluster=None, clock=RunClock(), client=None, topics={})  # type: ignore[arg-type]


def struck(planned_faults: Sequence[PlannedFault], stop: Event | None = None) -> dict[str, FaultWindow]:
    """Strike them; the windows by toxic."""
    windows: list[FaultWindow] = []
    run_faults(planned_faults, fault_target(), stop or Event(), windows.append)
    assert len(windows) == len(planned_faults)
    return {window.name: window for window in windows}


def planned_fault(toxic: Toxic, at_ms: float = 0, duration_ms: float = 1) -> PlannedFault:
    """A short one."""
    return PlannedFault(toxic=toxic, at_ms=at_ms, duration_ms=duration_ms, chosen={"broker": 1})


def test_each_fault_gives_a_window_with_what_it_struck() -> None:
    window = struck([planned_fault(FakeToxic(name="a", power=Power.NETWORK))])["a"]
    assert (window.kind, window.where, window.struck, window.how) == ("network", "somewhere", 3, "things struck")
    assert window.ended >= window.started


def test_a_toxic_without_power_struck_nothing_and_gives_the_reason() -> None:
    window = struck([planned_fault(FakeToxic(name="a", power=Power.NETWORK, fails="powerless"))])["a"]
    assert window.struck == 0
    assert window.where == '{"broker": 1}'
    assert window.how == "it did not strike; Powerless: this backend has no proxies"


def test_a_toxic_that_could_not_be_healed_keeps_its_count_and_gives_the_reason() -> None:
    window = struck([planned_fault(FakeToxic(name="a", power=Power.PROCESS, fails="healing"))])["a"]
    assert window.struck == 3
    assert window.how == "things struck; LookupError: broker 1 did not come back"


def test_two_of_one_power_are_never_on_together_whatever_the_plan_says() -> None:
    seen = ToxicsOn()
    fakes = [FakeToxic(name=f"t{n}", power=Power.FRAMES, seen=seen) for n in range(4)]
    windows = struck([planned_fault(fake, duration_ms=5) for fake in fakes])
    assert seen.together == set()
    assert all(window.struck == 3 for window in windows.values())


def test_different_powers_may_be_on_together() -> None:
    seen, stop = ToxicsOn(), Event()
    one, other = (FakeToxic(name=power, power=power, seen=seen) for power in (Power.FRAMES, Power.NETWORK))

    def end_when_both_are_on() -> None:
        assert one.entered.wait(10)
        assert other.entered.wait(10)
        stop.set()

    last = FakeToxic(name="last", power=Power.PROCESS, seen=seen, entering=end_when_both_are_on)
    struck(
        [
            planned_fault(one, duration_ms=60_000),
            planned_fault(other, duration_ms=60_000),
            planned_fault(last, duration_ms=60_000),
        ],
        stop,
    )
    assert {tuple(sorted(pair)) for pair in seen.together} >= {("frames", "network")}


def test_when_the_time_is_over_what_is_on_is_healed_and_nothing_else_begins() -> None:
    seen, stop = ToxicsOn(), Event()
    on = FakeToxic(name="on", power=Power.PROCESS, disrupts_broker=True, seen=seen)
    waiting = FakeToxic(name="waiting", power=Power.NETWORK, disrupts_broker=True, seen=seen)
    never = FakeToxic(name="never", power=Power.FRAMES, seen=seen)
    windows: list[FaultWindow] = []

    planned_faults = [
        planned_fault(on, duration_ms=3_600_000),
        planned_fault(waiting, at_ms=1, duration_ms=3_600_000),
        planned_fault(never, at_ms=3_600_000),
    ]
    runner = Thread(target=run_faults, args=(planned_faults, fault_target(), stop, windows.append))
    runner.start()
    assert on.entered.wait(10) or waiting.entered.wait(10)
    stop.set()
    runner.join(10)
    assert not runner.is_alive()
    assert seen.on == []
    assert sorted(window.struck for window in windows) == [0, 0, 3]
    assert "the time was over" in next(window.how for window in windows if window.name == "never")


def test_a_history_that_cannot_be_written_ends_the_faults_with_everything_healed() -> None:
    seen = ToxicsOn()
    first = FakeToxic(name="first", power=Power.FRAMES, seen=seen)
    long = FakeToxic(name="long", power=Power.NETWORK, seen=seen)

    def full(_: FaultWindow) -> None:
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        run_faults([planned_fault(first), planned_fault(long, duration_ms=3_600_000)], fault_target(), Event(), full)
    assert seen.on == []


def test_a_repeat_that_could_begin_only_after_the_planned_end_is_left_out_and_a_first_strike_is_not() -> None:
    slow = FakeToxic(name="slow", power=Power.PROCESS, entering=lambda: pause(0.02))
    other = FakeToxic(name="other", power=Power.PROCESS, entering=lambda: pause(0.02))
    windows: list[FaultWindow] = []
    run_faults(
        [planned_fault(one, duration_ms=5) for one in (slow, slow, other, other)],
        fault_target(),
        Event(),
        windows.append,
    )
    assert sorted(window.name for window in windows) == ["other", "slow"]
