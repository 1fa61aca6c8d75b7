"""Plans to try first: with the roles that a finding names and the faults that were on around it, and nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from harness.base.json_value import Json
from harness.chaos.plan.round_plan import RoundPlan
from harness.chaos.plan.scenario import PlannedFault
from harness.chaos.shrink.smaller_plans import brought_forward, one_transaction_each, with_roles
from harness.evidence.history.judgement import HistoryFinding
from harness.evidence.history.operation import FaultWindow
from harness.evidence.history.timeline import role_of


def first_guesses(plan: RoundPlan, found: HistoryFinding, windows: Sequence[FaultWindow]) -> list[RoundPlan]:
    """The boldest first; none that is the plan itself.

    :param windows: The round's faults as they were on.
    """
    roles, faults = set(_roles(found)), list(_faults(plan, found, windows))
    named = with_roles(plan, [role.name for role in plan.roles if role.name in roles] or [r.name for r in plan.roles])
    named = replace(named, faults=tuple(faults) or plan.faults)
    early = brought_forward(named)
    bold = brought_forward(one_transaction_each(early))
    return [guess for guess in (bold, early, named) if guess != plan]


def operations_named(found: HistoryFinding) -> Sequence[Mapping[str, Json]]:
    """The operations of the transaction that the finding is about, and those that it names; in their order."""
    return [
        row
        for row in found.around.operations
        if row.get("number") in found.operations or (found.txn is not None and row.get("txn") == found.txn)
    ]


def _roles(found: HistoryFinding) -> Iterator[str]:
    if found.actor:
        yield role_of(found.actor)
    yield from (role_of(str(row["actor"])) for row in operations_named(found) if row.get("actor"))


def _faults(plan: RoundPlan, found: HistoryFinding, windows: Sequence[FaultWindow]) -> Iterator[PlannedFault]:
    """Planned faults and windows of one toxic belong together by their order."""
    around = {(row.get("name"), row.get("started")) for row in found.around.faults}
    by_toxic: dict[str, list[FaultWindow]] = {}
    for window in sorted(windows, key=lambda window: window.started):
        by_toxic.setdefault(window.name, []).append(window)
    for fault in plan.faults:
        left = by_toxic.get(fault.toxic.name, [])
        if left and (fault.toxic.name, left.pop(0).started) in around:
            yield fault
