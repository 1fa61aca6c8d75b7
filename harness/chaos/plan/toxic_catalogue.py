"""Which toxics there are: every file under ``toxics`` that binds ``TOXIC``."""

from collections.abc import Mapping
from functools import cache
from typing import cast

from harness.base.bound_values import bound
from harness.base.paths import TOXICS
from harness.faults.toxic import Toxic


@cache
def find_toxics() -> Mapping[str, Toxic]:
    """Every toxic by its name."""
    found = (cast(Toxic, value) for _, value in bound(TOXICS, "TOXIC"))
    return {toxic.name: toxic for toxic in found}
