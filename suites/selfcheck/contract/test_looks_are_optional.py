"""A target without KIP-664's looks is judged all the same, by its answers and its logs; only they are missing."""

from dataclasses import replace

import pytest

from harness.base.paths import CONTRACT
from harness.contract import Evidence, Offers, Requirement, Status, judge
from harness.contract.catalogue.requirement_catalogue import CatalogueEntry, find
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab

ENTRIES = list(find(CONTRACT))
LOOKS = {"DescribeTransactions", "DescribeProducers"}
ABOUT = {
    "KIP664-DP-": "DescribeProducers",
    "KIP664-DT-": "DescribeTransactions",
    "KIP664-LT-07": "DescribeTransactions",  # ages are told by the coordinator's clock alone
}
TOOL = "KIP664-TOOL-"
"""Promises of a tool that works by looks: what its commands need is told by each."""


def unseeing(requirement: Requirement[Lab], evidence: Evidence) -> Evidence:
    """The evidence as the lab notes it where the target offers no look that the requirement does not need."""
    missing = LOOKS - {need.api for need in requirement.needs if isinstance(need, Offers)}
    return replace(evidence, steps=tuple(not_looked(one) if one.api in missing else one for one in evidence.steps))


def not_looked(look: Step) -> Step:
    """As ``StepRecorder.not_looked`` notes it."""
    return replace(look, version=-1, error=None, fields={}, answered=None, looked=False)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.requirement.id)
def test_a_sound_run_holds_without_looks(entry: CatalogueEntry) -> None:
    for evidence in entry.requirement.accepts:
        verdict = judge(entry.requirement, unseeing(entry.requirement, evidence))
        assert (verdict.status, verdict.reason) == (Status.HOLDS, None)
        assert verdict.witnesses >= 1


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.requirement.id)
def test_only_a_promise_about_a_look_needs_it(entry: CatalogueEntry) -> None:
    needed = LOOKS & {need.api for need in entry.requirement.needs if isinstance(need, Offers)}
    promised = {look for group, look in ABOUT.items() if entry.requirement.id.startswith(group)}
    assert needed == promised or entry.requirement.id.startswith(TOOL)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.requirement.id)
def test_a_promised_look_that_tells_nothing_is_never_green(entry: CatalogueEntry) -> None:
    needed = {look for group, look in ABOUT.items() if entry.requirement.id.startswith(group)}
    for evidence in entry.requirement.accepts if needed else ():
        silent = tuple(replace(one, error=None, fields={}) if one.api in needed else one for one in evidence.steps)
        assert judge(entry.requirement, replace(evidence, steps=silent)).status is not Status.HOLDS
