"""A plan as a file that a person can read and change: ``plan.toml`` in a round's folder, played by ``--plan``."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from harness.base.atomic_write import write_atomically
from harness.base.json_value import Json
from harness.base.paths import SCENARIOS
from harness.base.user_error import ExitCode, UserError
from harness.chaos.moments.moment import MOMENTS
from harness.chaos.plan.round_plan import PlannedRole, RoundPlan
from harness.chaos.plan.scenario import PlannedFault, Scenario
from harness.chaos.plan.scenario_catalogue import find_scenarios
from harness.chaos.plan.toml_text import toml
from harness.chaos.plan.toxic_catalogue import find_toxics
from harness.clients.wire.wire_adapter import ADAPTERS
from harness.evidence.json_codec import Malformed, from_plain

PLAN = "plan.toml"
"""The file's name in a round's folder."""
PLAIN = ("scenario", "seed", "seconds", "prober", "crowd")
"""Fields that are written as they are."""
HEAD = f"""\
# The plan of a round; `fencepost chaos TARGET --plan FILE` plays it. A role or a fault that is taken away leaves the
# draws of the others as they were. `at_ms` of a role delays its beginning; `transactions` is the most that it makes.
# A fault with a `moment` waits for it from `at_ms` on: {", ".join(MOMENTS)}.
# With a `state` (of its transactional id, Empty, Ongoing …) it lets others go on for most of that time.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultInFile:
    """A fault, with its toxic by name."""

    toxic: str
    at_ms: float
    duration_ms: float
    chosen: Mapping[str, Json]
    moment: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanInFile:
    """The file, with the fields of a plan."""

    scenario: str
    seed: int
    seconds: float
    prober: str
    roles: tuple[PlannedRole, ...]
    faults: tuple[FaultInFile, ...] = ()
    crowd: int = 0


def plan_text(plan: RoundPlan) -> str:
    """The plan as TOML."""
    document: dict[str, Json] = {name: getattr(plan, name) for name in PLAIN}
    document["roles"] = [_role(role) for role in plan.roles]
    if plan.faults:
        document["faults"] = [_fault(fault) for fault in plan.faults]
    return HEAD + "\n" + toml(document)


def write_plan(path: Path, plan: RoundPlan) -> Path:
    """Write it whole or not at all; its path."""
    return write_atomically(path, plan_text(plan))


def read_plan(path: Path) -> RoundPlan:
    """The plan of a file; :raises UserError: when it cannot be read, or names what there is not."""
    try:
        given = from_plain(PlanInFile, tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, Malformed) as error:
        told = " ".join(str(error).split())
        raise UserError(f"{path} is no plan: {told}; a round's {PLAN} shows the form", exit=ExitCode.USAGE) from error
    if wrong := next(_wrong(given), None):
        raise UserError(f"{path}: {wrong}", exit=ExitCode.USAGE)
    return RoundPlan(
        **{name: getattr(given, name) for name in (*PLAIN, "roles")},
        faults=tuple(_planned(each) for each in given.faults),
    )


def scenario_of(plan: RoundPlan) -> Scenario:
    """The scenario that the plan names, with the plan's clients and toxics."""
    scenario = next(each for each in find_scenarios(SCENARIOS) if each.name == plan.scenario)
    toxics = {fault.toxic.name: fault.toxic for fault in plan.faults}
    return replace(scenario, clients=plan.clients, toxics=tuple(toxics.values()), client_toxics=())


def _role(role: PlannedRole) -> dict[str, Json]:
    """What is as in every drawn plan is left out."""
    return {name: value for name, value in asdict(role).items() if value or name == "name"}


def _fault(fault: PlannedFault) -> dict[str, Json]:
    times: dict[str, Json] = {"at_ms": fault.at_ms, "duration_ms": fault.duration_ms}
    waits: dict[str, Json] = {"moment": fault.moment, "state": fault.state}
    waits = {name: value for name, value in waits.items() if value}
    return {"toxic": fault.toxic.name, **times, **waits, "chosen": dict(fault.chosen)}


def _planned(fault: FaultInFile) -> PlannedFault:
    given = {each.name: getattr(fault, each.name) for each in fields(fault)}
    return PlannedFault(**{**given, "toxic": find_toxics()[fault.toxic]})


def _wrong(given: PlanInFile) -> Iterator[str]:
    """What does not fit, as a clause with what would."""
    scenarios = {scenario.name: scenario for scenario in find_scenarios(SCENARIOS)}
    if given.scenario not in scenarios:
        yield f"{given.scenario!r} is no scenario; there are {', '.join(scenarios)}"
        return
    names = [role.name for role in scenarios[given.scenario].workload.roles()]
    for role in given.roles:
        if role.name not in names:
            yield f"{role.name!r} is no role of {given.scenario}; there are {', '.join(names)}"
    for fault in given.faults:
        if fault.toxic not in find_toxics():
            yield f"{fault.toxic!r} is no toxic; there are {', '.join(sorted(find_toxics()))}"
        yield from _wrong_moment(fault)
    if given.prober not in ADAPTERS:
        yield f"{given.prober!r} cannot probe; one of {', '.join(ADAPTERS)} can"
    yield from _without_sense(given)


def _wrong_moment(fault: FaultInFile) -> Iterator[str]:
    if fault.moment and fault.moment not in MOMENTS:
        yield f"{fault.moment!r} is no moment; there are {', '.join(MOMENTS)}"
        return
    states = MOMENTS[fault.moment].states if fault.moment else ()
    if fault.state and fault.state not in states:
        yield f"{fault.state!r} is no state of {fault.moment or 'a fault without a moment'}; {_are(states)}"


def _are(states: Sequence[str]) -> str:
    return f"there are {', '.join(states)}" if states else "leave it out"


def _without_sense(given: PlanInFile) -> Iterator[str]:
    """Numbers that no round can have."""
    if not given.roles:
        yield "no role plays; name one or more under [[roles]]"
    if given.crowd < 0:
        yield "crowd is how many producers play beside the roles, and cannot be below 0"
    if len({role.name for role in given.roles}) < len(given.roles):
        yield "a role is named twice; name each once"
    if not given.seconds > 0 or any(not fault.duration_ms > 0 for fault in given.faults):
        yield "seconds and each duration_ms must be above 0"
    if any(at_ms < 0 for at_ms in (*(role.at_ms for role in given.roles), *(fault.at_ms for fault in given.faults))):
        yield "at_ms counts from the beginning, and cannot be below 0"
    if any(role.transactions is not None and role.transactions < 1 for role in given.roles):
        yield "transactions is 1 or more; leave it out for as many as there is time for"
