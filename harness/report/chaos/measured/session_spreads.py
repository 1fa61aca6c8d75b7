"""A session's distributions: one value a round where a round has one, and what its rounds say of each fault together.

Percentiles of several rounds cannot be put together out of the rounds' own; so of what a round has many values of, the
median over rounds of their medians is told, and the longest of all.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from harness.base.json_value import Json
from harness.evidence.history.spreads import Interruption, Spread, StableOffsetLag, spread_of
from harness.evidence.json_codec import to_plain
from harness.report.chaos.compared.session_times import MEASURES, times_of
from harness.report.chaos.measured.round_spreads import interruptions_of, lags_of, times_in
from harness.report.chaos.round_results import RoundResults
from harness.report.shared.words import duration


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTimes:
    """A measure in the rounds of a scenario.

    :param spread: In milliseconds; None where no round came to its end in time.
    :param not_within: Rounds that did not.
    """

    measure: str
    scenario: str
    spread: Spread | None
    not_within: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultOverRounds:
    """What faults of a name were to a client; medians are those over rounds of the rounds' medians, in milliseconds."""

    fault: str
    client: str
    rounds: int
    faults: int
    unavailable_median: float
    unavailable_most: float
    recovered_median: float | None
    recovered_most: float | None
    not_again: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LagOverRounds:
    """The last stable offset's lag in phases of a name, in offsets."""

    phase: str
    rounds: int
    samples: int
    median: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSpreads:
    """All of them."""

    times: tuple[RoundTimes, ...]
    faults: tuple[FaultOverRounds, ...]
    lags: tuple[LagOverRounds, ...]

    @property
    def times_rows(self) -> Iterator[tuple[str, ...]]:
        for each in self.times:
            rounds = each.not_within + (each.spread.count if each.spread else 0)
            yield (each.measure, each.scenario, f"{rounds}", *times_in(each.spread), f"{each.not_within or '–'}")

    @property
    def fault_rows(self) -> Iterator[tuple[str, ...]]:
        for each in self.faults:
            unavailable = (duration(each.unavailable_median), duration(each.unavailable_most))
            again = ("–" if ms is None else duration(ms) for ms in (each.recovered_median, each.recovered_most))
            yield (
                *(each.fault, each.client, f"{each.rounds}", f"{each.faults}", *unavailable, *again),
                f"{each.not_again or '–'}",
            )

    @property
    def lag_rows(self) -> Iterator[tuple[str, ...]]:
        for each in self.lags:
            yield (each.phase or "outside all", f"{each.rounds}", f"{each.samples:,}", *_offsets(each))

    @property
    def plain(self) -> dict[str, Json]:
        """For ``report.json``."""
        tables = {"times": self.times, "faults": self.faults, "lags": self.lags}
        return {name: [to_plain(each) for each in rows] for name, rows in tables.items()}


def session_spreads(rounds: Sequence[RoundResults]) -> SessionSpreads:
    by_fault, by_phase = defaultdict(list), defaultdict(list)
    for round_ in rounds:
        for each in interruptions_of(round_):
            by_fault[each.fault, each.client].append(each)
        for lag in lags_of(round_):
            by_phase[lag.phase].append(lag)
    return SessionSpreads(
        times=tuple(_times(times_of(rounds))),
        faults=tuple(_over_rounds(own) for _, own in sorted(by_fault.items())),
        lags=tuple(_lag(phase, own) for phase, own in sorted(by_phase.items())),
    )


def _times(times: Mapping[str, Json]) -> Iterator[RoundTimes]:
    for measure in MEASURES:
        scenarios = times.get(measure)
        assert isinstance(scenarios, dict), "every measure has its scenarios"
        for scenario, values in scenarios.items():
            assert isinstance(values, list), "a value a round"
            known = [float(value) for value in values if isinstance(value, int | float)]
            late = len(values) - len(known)
            yield RoundTimes(measure=measure, scenario=scenario, spread=spread_of(known), not_within=late)


def _over_rounds(own: Sequence[Interruption]) -> FaultOverRounds:
    again = [each.recovered for each in own if each.recovered is not None]
    return FaultOverRounds(
        fault=own[0].fault,
        client=own[0].client,
        rounds=len(own),
        faults=sum(each.faults for each in own),
        unavailable_median=median(each.unavailable.p50 for each in own),
        unavailable_most=max(each.unavailable.most for each in own),
        recovered_median=median(each.p50 for each in again) if again else None,
        recovered_most=max((each.most for each in again), default=None),
        not_again=sum(each.not_again for each in own),
    )


def _lag(phase: str, own: Sequence[StableOffsetLag]) -> LagOverRounds:
    lags = [each.lag for each in own]
    return LagOverRounds(
        phase=phase,
        rounds=len(lags),
        samples=sum(each.count for each in lags),
        median=median(each.p50 for each in lags),
        most=max(each.most for each in lags),
    )


def _offsets(each: LagOverRounds) -> tuple[str, str]:
    return f"{each.median:,.0f}", f"{each.most:,.0f}"
