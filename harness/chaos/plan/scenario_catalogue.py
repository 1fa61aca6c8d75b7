"""Which scenarios there are: every file under ``suites/chaos/scenarios`` that binds ``SCENARIO``."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from harness.base.bound_values import bound
from harness.base.user_error import ExitCode, UserError
from harness.chaos.plan.scenario import Scenario


def find_scenarios(folder: Path) -> tuple[Scenario, ...]:
    """Every scenario, by priority and name."""
    found = (cast(Scenario, value) for _, value in bound(folder, "SCENARIO"))
    return tuple(sorted(found, key=lambda scenario: (scenario.priority, scenario.name)))


def select_scenarios(names: str, scenarios: Sequence[Scenario]) -> tuple[Scenario, ...]:
    """Those named in ``names`` (``late-produce,relay``), in that order; all where it is empty.

    :raises UserError: When a name is none of them.
    """
    by_name = {scenario.name: scenario for scenario in scenarios}
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    if unknown := [name for name in wanted if name not in by_name]:
        there = ", ".join(by_name)
        raise UserError(f"{', '.join(unknown)} is no scenario; there are {there}", exit=ExitCode.USAGE)
    return tuple(by_name[name] for name in wanted) or tuple(scenarios)
