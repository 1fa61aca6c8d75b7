"""Plans that are smaller than a plan, each in one way; pure."""

from collections.abc import Sequence
from dataclasses import replace

from harness.chaos.plan.round_plan import RoundPlan
from harness.chaos.plan.scenario import PlannedFault
from harness.chaos.plan.schedule import FIRST_QUIET_SECONDS, QUIET_SECONDS
from harness.faults.toxic import MinimumDuration

TAIL_SECONDS = 1.0
"""That roles go on after the last fault."""
STRUCK_AFTER_MS = 200.0
"""After a fault has begun it should be on, so that what begins then meets it."""


def ending_soon(plan: RoundPlan) -> RoundPlan:
    """Over soon after its last fault; never longer than it was."""
    if not plan.faults:
        return plan
    last_ms = max(fault.at_ms + fault.duration_ms for fault in plan.faults)
    return replace(plan, seconds=min(plan.seconds, last_ms / 1000 + TAIL_SECONDS))


def brought_forward(plan: RoundPlan) -> RoundPlan:
    """With its faults as early as may be, and as near to each other; faults that overlap go on doing so."""
    moved: list[PlannedFault] = []
    earlier_ms, busy_until_ms, quiet_ms = 0.0, 0.0, 1000 * FIRST_QUIET_SECONDS
    for fault in plan.faults:
        idle_ms = fault.at_ms - earlier_ms - busy_until_ms
        earlier_ms += max(0.0, idle_ms - quiet_ms)
        moved.append(replace(fault, at_ms=fault.at_ms - earlier_ms))
        busy_until_ms, quiet_ms = max(busy_until_ms, moved[-1].at_ms + fault.duration_ms), 1000 * QUIET_SECONDS[0]
    return ending_soon(replace(plan, faults=tuple(moved)))


def one_transaction_each(plan: RoundPlan) -> RoundPlan:
    """Each role makes a single transaction, once the first fault is on."""
    at_ms = plan.faults[0].at_ms + STRUCK_AFTER_MS if plan.faults else 0.0
    return replace(plan, roles=tuple(replace(role, at_ms=at_ms, transactions=1) for role in plan.roles))


def with_transactions(plan: RoundPlan, most: int) -> RoundPlan:
    """No role makes more transactions than so many."""
    roles = (replace(role, transactions=min(most, role.transactions or most)) for role in plan.roles)
    return replace(plan, roles=tuple(roles))


def shortened(plan: RoundPlan, most_ms: float) -> RoundPlan:
    """No fault is on for longer than so many milliseconds, but for those that would have no effect."""
    return ending_soon(replace(plan, faults=tuple(_shortened(fault, most_ms) for fault in plan.faults)))


def switched_off(plan: RoundPlan, nth: int, name: str) -> RoundPlan:
    """With a choice of the ``nth`` fault that was drawn as true as false."""
    faults = list(plan.faults)
    faults[nth] = replace(faults[nth], chosen={**faults[nth].chosen, name: False})
    return replace(plan, faults=tuple(faults))


def at_once(plan: RoundPlan, nth: int) -> RoundPlan:
    """The ``nth`` fault waits for no moment."""
    faults = list(plan.faults)
    faults[nth] = replace(faults[nth], moment="", state="")
    return replace(plan, faults=tuple(faults))


def with_roles(plan: RoundPlan, names: Sequence[str]) -> RoundPlan:
    """Only these roles play."""
    return replace(plan, roles=tuple(role for role in plan.roles if role.name in names))


def _shortened(fault: PlannedFault, most_ms: float) -> PlannedFault:
    least_ms = 1000 * fault.toxic.seconds if isinstance(fault.toxic, MinimumDuration) else 0.0
    return replace(fault, duration_ms=min(fault.duration_ms, max(most_ms, least_ms)))
