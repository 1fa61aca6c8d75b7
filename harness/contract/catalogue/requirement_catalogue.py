"""The catalogue: every requirement found under a folder, and the row that stands for it in lists and reports.

A file binds one requirement to ``REQUIREMENT``, or several of one form (commit and abort) to ``REQUIREMENTS``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.bound_values import binds, load_module
from harness.contract.refuters import describe
from harness.contract.requirement import Requirement


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A requirement and the file that states it."""

    requirement: Requirement[Any]
    file: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementRow:
    """A requirement without its code: what lists, reports and ``report.json`` show."""

    id: str
    kip: str
    group: str
    level: str
    source: str
    statement: str
    section: str
    link: str
    file: str
    accepts: int
    refuses: tuple[str, ...]
    refuted_by: tuple[str, ...]
    access: tuple[str, ...] = ()
    cluster: str = ""


BOUND_NAMES = ("REQUIREMENT", "REQUIREMENTS")


def states_requirement(path: Path) -> bool:
    """Whether the file binds ``REQUIREMENT`` or ``REQUIREMENTS`` at its top level; nothing is imported."""
    return any(binds(path, name) for name in BOUND_NAMES)


def find(folder: Path) -> Iterator[CatalogueEntry]:
    """Every requirement under ``folder``, by id; :raises ValueError: when an id is stated twice."""
    entries = [entry for path in sorted(folder.rglob("*.py")) if states_requirement(path) for entry in load(path)]
    seen: dict[str, Path] = {}
    for entry in sorted(entries, key=lambda entry: entry.requirement.id):
        if other := seen.get(entry.requirement.id):
            raise ValueError(f"{entry.requirement.id} is stated twice: {other} and {entry.file}")
        seen[entry.requirement.id] = entry.file
        yield entry


def load(path: Path) -> tuple[CatalogueEntry, ...]:
    """The requirements that ``path`` states; loading the same file again gives the same ones.

    :raises TypeError: When it binds something else, or both names.
    """
    module = load_module(path)
    bound = [getattr(module, name) for name in BOUND_NAMES if hasattr(module, name)]
    stated = bound if isinstance(bound[0], Requirement) else tuple(bound[0])
    if len(bound) != 1 or not stated or not all(isinstance(one, Requirement) for one in stated):
        raise TypeError(f"{path} must bind REQUIREMENT to a Requirement, or REQUIREMENTS to several")
    return tuple(CatalogueEntry(requirement, path) for requirement in stated)


def requirement_row(entry: CatalogueEntry, *, root: Path) -> RequirementRow:
    """The row of an entry; ``file`` is given relative to ``root``."""
    stated = entry.requirement
    return RequirementRow(
        id=stated.id,
        kip=stated.kip,
        group=stated.group,
        level=stated.level,
        source=f"KIP-{stated.source.kip}: {stated.source.section}",
        statement=stated.statement,
        section=stated.source.section,
        link=stated.source.link(),
        file=str(entry.file.resolve().relative_to(root.resolve())),
        accepts=len(stated.accepts),
        refuses=tuple(refusal.anomaly for refusal in stated.refuses),
        refuted_by=tuple(describe(refuter) for refuter in stated.refuted_by),
        access=tuple(access.value for access in stated.access),
        cluster="" if stated.cluster is None else str(stated.cluster),
    )
