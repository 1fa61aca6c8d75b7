"""Many histories in one folder, judged in one go; what was found is told apart again by the names in it."""

import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random

from harness.history.judgement import Found, Judgement
from harness.spark.history import open_history
from harness.spark.judge import judge
from harness.spark.session import Session
from suites.selfcheck.histories.planting import PLANTS, Plant
from suites.selfcheck.histories.synthetic import TXNS, Synthetic, drawn, write_folder
from suites.selfcheck.histories.workloads import WORKLOADS

NAMED = re.compile(r"\bh(\d+)\.")
ALL = 1_000_000
TRIES = 2_000
"""Histories that are drawn at most until one has a place for a plant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A history with an anomaly in it, and how it came there."""

    history: Synthetic
    plant: Plant
    seed: int

    def __str__(self) -> str:
        return f"{self.plant.name} in {self.history.workload}, seed {self.seed}"


def clean(seeds: Iterable[int]) -> list[Synthetic]:
    """A sound history for each seed, of all workloads in turn."""
    workloads = list(WORKLOADS)
    return [drawn(workloads[seed % 5], number, Random(seed)) for number, seed in enumerate(seeds)]


def planted(times: int, plants: Sequence[Plant] = PLANTS) -> list[Planted]:
    """Each plant ``times`` over, every time in another history and at another position."""
    numbers = count()
    return [one for plant in plants for one in _planted(plant, times, numbers)]


def _planted(plant: Plant, times: int, numbers: "count[int]") -> list[Planted]:
    found: list[Planted] = []
    workloads, number = list(WORKLOADS), next(numbers)
    for seed in range(TRIES):
        rng = Random(f"{plant.name} {seed}")
        history = drawn(workloads[seed % 5], number, rng)
        if plant.doctor(history, rng):
            found.append(Planted(history=history, plant=plant, seed=seed))
            if len(found) == times:
                return found
            number = next(numbers)
    raise AssertionError(f"{plant.name} found a place in only {len(found)} of {TRIES} histories")


def judged(session: Session, folder: Path, histories: Iterable[Synthetic]) -> Judgement:
    """Write them into ``folder``, and judge it."""
    return judged_folder(session, write_folder(folder, histories))


def judged_folder(session: Session, folder: Path) -> Judgement:
    """Judge a run folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # pyspark leaves collect()'s sockets to the collector
        return judge(open_history(session.spark, folder), shown=ALL)


def by_history(judgement: Judgement) -> Mapping[int, Sequence[Found]]:
    """Findings by the number of the history that they are about."""
    found: dict[int, list[Found]] = defaultdict(list)
    for check in judgement.checks:
        for one in check.findings:
            found[_number(one)].append(one)
    return found


def _number(found: Found) -> int:
    for name in (found.topic, found.actor, found.view):
        if name is not None and (match := NAMED.search(name)):
            return int(match[1])
    known = found.txn if found.txn is not None else found.producer_id
    assert known is not None, f"a finding that says nothing of where it is: {found}"
    return known // TXNS
