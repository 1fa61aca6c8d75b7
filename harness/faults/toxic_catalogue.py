"""Which toxics there are: every file under ``toxics/`` that binds ``TOXIC``, by name. Liars are never among them.

Found by their place, so that a toxic is one file and no line elsewhere; the harness imports none of them by name.
"""

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from harness.faults.toxic import Toxic

TOXICS = Path(__file__).resolve().parents[2] / "toxics"
NEVER_DRAWN = frozenset({"liars"})
"""Kinds that would make a sound Kafka look broken: they prove that the judge can tell."""


def find_toxics(folder: Path = TOXICS) -> Mapping[str, Toxic]:
    """Every toxic by its name; :raises ValueError: when two files give the same name."""
    found: dict[str, Toxic] = {}
    for toxic in _toxics(folder):
        if toxic.name in found:
            raise ValueError(f"two toxics are called {toxic.name}")
        found[toxic.name] = toxic
    return dict(sorted(found.items()))


def _toxics(folder: Path) -> Iterator[Toxic]:
    for path in sorted(folder.glob("*/*.py")):
        if path.stem != "__init__" and path.parent.name not in NEVER_DRAWN:
            module = importlib.import_module(f"{folder.name}.{path.parent.name}.{path.stem}")
            toxic: Toxic | None = getattr(module, "TOXIC", None)
            if toxic is not None:
                yield toxic
