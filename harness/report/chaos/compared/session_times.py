"""``--against RUN`` of chaos: the times of this session's rounds beside those of an earlier one, with a test.

One number a round, because what is measured within a round hangs together. A round that did not come to rest in its
time counts as longer than all others. Rounds of one scenario are compared with each other; of a scenario that only one
of the sessions played nothing is compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isinf
from statistics import median

from harness.base.json_value import Json
from harness.report.chaos.compared.rank_test import rank_test
from harness.report.chaos.round_results import RoundResults
from harness.report.shared.words import duration

MEASURES = {
    "time to recover": "from heal until every coordinator has committed a probe",
    "settle time": "until every replica is in sync, no transaction is open, and each LSO is its high watermark",
    "longest without a commit": "of any role, from the beginning of a fault that struck",
}
SIGNIFICANT = 0.05 / len(MEASURES)
"""Below which p is no chance: Bonferroni's correction of 5 % for the number of tests."""
METHOD = (
    "Two-sided permutation test of Mann and Whitney's statistic within each scenario, one value a round; "
    f"significant below p = {SIGNIFICANT:.4f} (5 %, corrected by Bonferroni for {len(MEASURES)} tests)."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedTimes:
    """A measure in both sessions; None where a value is not known or beyond its bound.

    :param conclusion: ``slower``, ``faster``, ``no difference shown`` or ``too few rounds``.
    """

    measure: str
    meaning: str
    rounds_before: int
    rounds_now: int
    before_ms: float | None
    now_ms: float | None
    longer: float | None
    p: float | None
    conclusion: str

    @property
    def words(self) -> tuple[str, ...]:
        """The row of a table: measure, medians, rounds, p, conclusion."""
        medians = (_middle(self.before_ms, self.rounds_before), _middle(self.now_ms, self.rounds_now))
        p = "–" if self.p is None else f"{self.p:.4f}"
        return (self.measure, *medians, f"{self.rounds_before}, {self.rounds_now}", p, self.conclusion)


def _middle(ms: float | None, rounds: int) -> str:
    if not rounds:
        return "–"
    return "not within its time" if ms is None else duration(ms)


def times_of(rounds: Sequence[RoundResults]) -> dict[str, Json]:
    """By measure and scenario the milliseconds of each round that was played, null where it took longer than it may."""
    found: dict[str, dict[str, list[Json]]] = {measure: {} for measure in MEASURES}
    for round_ in rounds:
        for measure, value in _measured(round_).items():
            found[measure].setdefault(round_.scenario, []).append(value)
    return {measure: dict(scenarios) for measure, scenarios in found.items()}


def _measured(round_: RoundResults) -> dict[str, Json]:
    facts, measured = round_.facts, dict[str, Json]()
    if facts:
        measured = {"time to recover": recovered(facts), "settle time": settled(facts)}
    interrupted = (round_.timeline.interruptions or ()) if round_.timeline else ()
    if interrupted:
        measured["longest without a commit"] = max(each.unavailable.most for each in interrupted)
    return measured


def compared(before: Mapping[str, Json], now: Mapping[str, Json]) -> tuple[ComparedTimes, ...]:
    """Both sessions' times, as :func:`times_of` gives them."""
    return tuple(_compared(measure, _values(before, measure), _values(now, measure)) for measure in MEASURES)


def _compared(measure: str, before: Mapping[str, Sequence[float]], now: Mapping[str, Sequence[float]]) -> ComparedTimes:
    groups = {name: (before[name], now[name]) for name in before if name in now}
    first = [value for values, _ in groups.values() for value in values]
    second = [value for _, values in groups.values() for value in values]
    test = rank_test(groups)
    conclusion = "too few rounds"
    if test is not None and test.least < SIGNIFICANT:
        longer = "slower" if test.larger > 0.5 else "faster"
        conclusion = longer if test.p < SIGNIFICANT else "no difference shown"
    return ComparedTimes(
        measure=measure,
        meaning=MEASURES[measure],
        rounds_before=len(first),
        rounds_now=len(second),
        before_ms=_median(first),
        now_ms=_median(second),
        longer=round(test.larger, 4) if test else None,
        p=round(test.p, 4) if test else None,
        conclusion=conclusion,
    )


def _median(values: Sequence[float]) -> float | None:
    middle = median(values) if values else inf
    return None if isinf(middle) else middle


def _values(times: Mapping[str, Json], measure: str) -> dict[str, list[float]]:
    scenarios = times.get(measure)
    if not isinstance(scenarios, dict):
        return {}
    return {
        name: [float(value) if isinstance(value, int | float) else inf for value in values]
        for name, values in scenarios.items()
        if isinstance(values, list)
    }


def recovered(facts: Mapping[str, Json]) -> Json:
    """The slowest probe; null where one was not committed."""
    probes = facts.get("probes")
    rows = [row for row in probes if isinstance(row, dict)] if isinstance(probes, list) else []
    if not rows or not all(row.get("committed") for row in rows):
        return None
    return max(float(ms) for row in rows if isinstance(ms := row.get("ms"), int | float))


def settled(facts: Mapping[str, Json]) -> Json:
    """Milliseconds; null where it did not settle in its time."""
    settled = facts.get("settle")
    return settled.get("settled_ms") if isinstance(settled, dict) else None
