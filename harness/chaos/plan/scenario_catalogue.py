"""Which scenarios there are: every file under ``suites/chaos/scenarios`` that binds ``SCENARIO``.

Found by their place, so that a scenario is one file and no line elsewhere; the harness imports no suite by name.
"""

import importlib.util
from collections.abc import Sequence
from pathlib import Path

from harness.base.user_error import ExitCode, UserError
from harness.chaos.plan.scenario import Scenario


def find_scenarios(folder: Path) -> tuple[Scenario, ...]:
    """Every scenario, by turn and name."""
    paths = sorted(path for path in folder.glob("*.py") if path.stem != "__init__")
    return tuple(sorted((_load(path) for path in paths), key=lambda scenario: (scenario.turn, scenario.name)))


def chosen(wanted: str, scenarios: Sequence[Scenario]) -> tuple[Scenario, ...]:
    """Those named in ``wanted`` (``late-produce,relay``), in that order; all where it is empty.

    :raises Trouble: When a name is none of them.
    """
    by_name = {scenario.name: scenario for scenario in scenarios}
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    if strangers := [name for name in names if name not in by_name]:
        there = ", ".join(by_name)
        raise UserError(f"{', '.join(strangers)} is no scenario; there are {there}", exit=ExitCode.USAGE)
    return tuple(by_name[name] for name in names) or tuple(scenarios)


def _load(path: Path) -> Scenario:
    name = f"suites.chaos.scenarios.{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    scenario: Scenario = module.SCENARIO
    return scenario
