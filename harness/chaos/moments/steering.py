"""Steering: of several seeds for a round, the one whose faults may meet most of what no round of the session has met.

A round's plan depends on its seed alone; which seed it gets depends on the session's seed and on what was visited. The
seed stands in the round's command, so a round is run again exactly, without the session.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set

from harness.base.seed import Seed
from harness.chaos.moments.moment import MOMENTS
from harness.chaos.moments.struck_requests import requests_by_fault
from harness.chaos.moments.told_by_log import hides_states
from harness.chaos.plan.scenario import PlannedFault
from harness.evidence.situations.situation import Situation, wanted

CANDIDATES = 48
"""Seeds that are compared, which takes some 0.1 s a round.

In three passes of all scenarios on three brokers the faults, each of which aims at one state, aim at 241 of the 710
situations that moments can aim at; at 208 with 12 seeds, at 88 with seeds in a row.
"""
APART = 1_000_003
"""Between two of them, so that no other round of the session has them."""
NEVER: Mapping[Situation, int] = {}
BY_CHANCE = 0.1
"""What a situation counts that a fault without a moment may meet; one that its moment aims at counts 1."""


def candidates(seed: Seed) -> Iterator[Seed]:
    """The round's own seed first."""
    yield from (Seed(seed.value + nth * APART) for nth in range(CANDIDATES))


def steered(
    seed: Seed,
    faults_of: Callable[[Seed], Sequence[PlannedFault]],
    visited: Set[Situation],
    *,
    groups: bool,
    aimed_at: Mapping[Situation, int] = NEVER,
) -> tuple[Seed, float]:
    """The best of the candidates with its worth, the first of equals; pure."""
    worths = {each: worth(faults_of(each), visited, groups=groups, aimed_at=aimed_at) for each in candidates(seed)}
    best = max(worths, key=lambda each: worths[each])
    return best, worths[best]


def worth(
    faults: Sequence[PlannedFault],
    visited: Set[Situation],
    *,
    groups: bool,
    aimed_at: Mapping[Situation, int] = NEVER,
) -> float:
    """How much of what was not visited these faults may meet; nothing where no state can be told.

    :param aimed_at: How often rounds have aimed at each before; what was not met then may be hard to meet.
    """
    if any(hides_states(fault.toxic) for fault in faults):
        return 0.0
    met, aimed = wanted(requests_by_fault([fault.toxic for fault in faults]), groups=groups), aims(faults)
    return round(sum((1.0 if each in aimed else BY_CHANCE) / (1 + aimed_at.get(each, 0)) for each in met - visited), 6)


def aims(faults: Sequence[PlannedFault]) -> frozenset[Situation]:
    """The situations that the moments of these faults aim at, in the states that they wait for."""
    return frozenset(
        Situation(state=state, request=request, fault=fault.toxic.name)
        for fault in faults
        if fault.moment
        for state, request in MOMENTS[fault.moment].aims
        if fault.state in ("", state)
    )
