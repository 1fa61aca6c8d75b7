"""Which toxics there are: every file under ``toxics`` that binds ``TOXIC``, by name. Liars bind none."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import cast

from harness.base.bound_values import bound
from harness.base.paths import TOXICS
from harness.faults.toxic import Toxic


@cache
def find_toxics(folder: Path = TOXICS) -> Mapping[str, Toxic]:
    """Every toxic by its name; :raises ValueError: when two files give the same name."""
    found: dict[str, Toxic] = {}
    for _, value in bound(folder, "TOXIC"):
        toxic = cast(Toxic, value)
        if toxic.name in found:
            raise ValueError(f"two toxics are called {toxic.name}")
        found[toxic.name] = toxic
    return dict(sorted(found.items()))
