"""Which faults of a round wait for a moment, and for which state.

They are drawn from a stream of their own, so that all else is as without them.
"""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from harness.chaos.moments.moment import MOMENTS, Moment
from harness.chaos.plan.scenario import PlannedFault, Scenario
from harness.evidence.situations import situation as words
from harness.faults.toxic import ClusterShape, Power

ROUND_SHARE = 0.6
"""Share of rounds whose faults may wait. In the others nothing leads traffic through the gate for it."""
FAULT_SHARE = 0.75
"""Share of the faults of such a round that wait, where they can."""


def at_moments(
    faults: Sequence[PlannedFault], scenario: Scenario, shape: ClusterShape, draw: Random
) -> tuple[PlannedFault, ...]:
    """The same faults, of which some wait; those of one round for requests of clients, or for those of brokers.

    Of two rules of the gate the first takes a request; so toxics on single requests wait for nothing. Nor does an
    upgrade, which has an order of its own.
    """
    fit = [each for each in MOMENTS.values() if each.reach <= shape.reach and _asked(each, scenario)]
    if not fit or scenario.upgrades or draw.random() >= ROUND_SHARE:
        return tuple(faults)
    place = draw.choice(sorted({each.on for each in fit}))
    names = [each.name for each in fit if each.on == place]
    waiting = [_waiting(fault, names, draw) for fault in faults]
    return tuple(_in_state(fault, draw) for fault in waiting)


def _waiting(fault: PlannedFault, names: Sequence[str], draw: Random) -> PlannedFault:
    waits, name = draw.random() < FAULT_SHARE, draw.choice(names)
    return replace(fault, moment=name) if waits and fault.toxic.power is not Power.FRAMES else fault


def _in_state(fault: PlannedFault, draw: Random) -> PlannedFault:
    return replace(fault, state=draw.choice(MOMENTS[fault.moment].states)) if fault.moment else fault


def _asked(moment: Moment, scenario: Scenario) -> bool:
    return moment.api not in words.OF_GROUPS or scenario.has_groups
