"""Every observation that a check yields is needed: some doctored evidence is refused because of it alone.

An observation is known by the line that yields it (in the check, and in each generator that it passes on by
``yield from``), so that it is the same one for whatever evidence. Without it, some refusal must not be refused with
exactly its anomaly any more; what no refusal needs is given one, or taken out.
"""

from collections.abc import Generator, Iterator, Mapping
from types import GeneratorType
from typing import TypeAlias

import pytest

from harness.base.paths import CONTRACT
from harness.contract import Evidence, NotSeen, Requirement
from harness.contract.catalogue.requirement_catalogue import CatalogueEntry, find
from harness.contract.expect import Finding, Observation
from harness.lab import Lab

YieldLines: TypeAlias = tuple[str, ...]
ENTRIES = list(find(CONTRACT))


def yield_lines(running: object) -> Iterator[str]:
    """``function:line`` of a generator that stands at a yield, and of each that it passes on."""
    while isinstance(running, GeneratorType):
        assert running.gi_frame is not None
        yield f"{running.gi_code.co_name}:{running.gi_frame.f_lineno}"
        running = running.gi_yieldfrom


def observed(requirement: Requirement[Lab], evidence: Evidence) -> Iterator[tuple[YieldLines, Observation]]:
    """Each observation with its line, until a step is missing."""
    running = requirement.check(evidence)
    assert isinstance(running, Generator), f"{requirement.id}: the check is no generator"
    try:
        for observation in running:
            yield tuple(yield_lines(running)), observation
    except NotSeen:
        return


def anomalies(requirement: Requirement[Lab], evidence: Evidence) -> Mapping[YieldLines, set[str]]:
    """The anomalies that each line finds; a line that finds nothing has none."""
    found: dict[YieldLines, set[str]] = {}
    for line, observation in observed(requirement, evidence):
        found.setdefault(line, set()).update({observation.anomaly} if isinstance(observation, Finding) else ())
    return found


def unneeded(requirement: Requirement[Lab]) -> list[str]:
    """The lines without which every refusal is refused as before."""
    accepted = [anomalies(requirement, evidence) for evidence in requirement.accepts]
    refused = [(anomalies(requirement, refusal.evidence), refusal.anomaly) for refusal in requirement.refuses]
    lines = {line for found in [*accepted, *(found for found, _ in refused)] for line in found}
    return sorted(
        " > ".join(line)
        for line in lines
        if all(
            set().union(*(names for other, names in found.items() if other != line)) == {anomaly}
            for found, anomaly in refused
        )
    )


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.requirement.id)
def test_every_observation_is_needed_by_some_refusal(entry: CatalogueEntry) -> None:
    assert unneeded(entry.requirement) == []
