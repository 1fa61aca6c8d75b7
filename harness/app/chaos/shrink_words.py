"""What is told of a search: a line for each try, and the smallest plan in words at its end."""

from collections.abc import Iterator

from harness.chaos.plan.round_plan import PlannedRole, RoundPlan
from harness.chaos.plan.scenario import PlannedFault
from harness.chaos.shrink.first_guesses import operations_named
from harness.chaos.shrink.lab_sketch import lab_sketch
from harness.clients.wire.wire_adapter import ADAPTERS
from harness.evidence.history.judgement import HistoryFinding
from harness.evidence.history.operation import FaultWindow
from harness.report.shared.words import count, value


def smaller_words(whole: RoundPlan, plan: RoundPlan) -> str:
    """How much of a plan another one is: ``1 of 4 roles, 1 of 2 faults, 4.7 s, 1 transaction each``."""
    most = [role.transactions for role in plan.roles]
    each = f", at most {_transactions(max(filter(None, most)))} each" if all(most) else ""
    faults = f"{len(plan.faults)} of {count(len(whole.faults), 'fault', 'faults')}"
    return f"{len(plan.roles)} of {count(len(whole.roles), 'role', 'roles')}, {faults}, {plan.seconds:g} s{each}"


def sizes(whole: RoundPlan, plan: RoundPlan) -> Iterator[str]:
    """The plan before and after, a line for each kind of part."""
    yield f"  roles         {len(whole.roles)} → {len(plan.roles)}"
    yield f"  faults        {len(whole.faults)} → {len(plan.faults)}"
    yield f"  transactions  {_most(whole)} → {_most(plan)}"
    yield f"  seconds       {whole.seconds:g} → {plan.seconds:g}"


def what_is_left(plan: RoundPlan, finding: HistoryFinding, windows: tuple[FaultWindow, ...]) -> str:
    """One paragraph on the smallest plan."""
    struck = {window.name: window for window in windows}
    roles = "; ".join(map(_role, plan.roles))
    faults = "; ".join(_fault(fault, struck.get(fault.toxic.name)) for fault in plan.faults)
    return f"{roles}. {faults or 'No fault is needed'}. The judge finds {finding.anomaly}: {finding.detail}."


def sketch_of(plan: RoundPlan, finding: HistoryFinding) -> str:
    """The operations that the finding names as lines of the lab's language; empty where a library plays."""
    if not all(role.client in ADAPTERS for role in plan.roles):
        return ""
    return lab_sketch(operations_named(finding))


def _most(plan: RoundPlan) -> str:
    most = [role.transactions for role in plan.roles]
    return "as many as there is time for" if not all(most) else str(sum(map(int, filter(None, most))))


def _transactions(number: int) -> str:
    return count(number, "transaction", "transactions")


def _role(role: PlannedRole) -> str:
    makes = "as many transactions as there is time for"
    if role.transactions:
        makes = _transactions(role.transactions)
    since = f" from {role.at_ms / 1000:g} s on" if role.at_ms else ""
    return f"{role.name} ({role.client}) makes {makes}{since}"


def _fault(fault: PlannedFault, window: FaultWindow | None) -> str:
    chosen = ", ".join(f"{name} {value(each)}" for name, each in fault.chosen.items())
    when = f"from {fault.at_ms / 1000:g} s on for {fault.duration_ms / 1000:g} s"
    strikes = f", and struck {window.struck:,} ({window.how})" if window else ""
    state = f" of an id that is {fault.state}" if fault.state else ""
    waits = f", waits for {fault.moment}{state}" if fault.moment else ""
    return f"{fault.toxic.name} is on {when}{waits} ({chosen}){strikes}"
