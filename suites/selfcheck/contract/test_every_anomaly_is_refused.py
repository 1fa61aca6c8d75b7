"""Every anomaly that a requirement can name is proven: doctored evidence turns it up, and live refuters name such."""

import ast
from collections.abc import Iterator

import pytest

from harness.base.paths import CONTRACT
from harness.contract import Unrefuted, judge
from harness.contract.catalogue.requirement_catalogue import CatalogueEntry, find

ENTRIES = list(find(CONTRACT))
GENERIC = {"wrong-error", "wrong-message", "unanswered"}
"""What :func:`harness.contract.refused` names by itself; where a requirement proves them, it does so on top."""


def id_of(entry: CatalogueEntry) -> str:
    """The requirement's id, for pytest."""
    return entry.requirement.id


def named(entry: CatalogueEntry) -> Iterator[str]:
    """The anomalies that stand in the file as ``otherwise="…"`` or ``finding("…", …)``."""
    for node in ast.walk(ast.parse(entry.file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.keyword) and node.arg == "otherwise" and isinstance(node.value, ast.Constant):
            yield str(node.value.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "finding":
            yield from (str(one.value) for one in node.args[:1] if isinstance(one, ast.Constant))


@pytest.mark.parametrize("entry", ENTRIES, ids=id_of)
def test_each_anomaly_that_a_check_names_is_turned_up_by_doctored_evidence(entry: CatalogueEntry) -> None:
    refused = {refusal.anomaly for refusal in entry.requirement.refuses}
    assert set(named(entry)) - refused == set()


@pytest.mark.parametrize("entry", ENTRIES, ids=id_of)
def test_what_refutes_it_live_names_an_anomaly_of_its_own(entry: CatalogueEntry) -> None:
    live = {one.anomaly for one in entry.requirement.refuted_by if not isinstance(one, Unrefuted)}
    assert live
    assert live <= {refusal.anomaly for refusal in entry.requirement.refuses} | GENERIC


@pytest.mark.parametrize("entry", ENTRIES, ids=id_of)
def test_what_nothing_refutes_live_is_an_anomaly_of_its_own_that_no_live_refuter_names(entry: CatalogueEntry) -> None:
    refuted_by = entry.requirement.refuted_by
    none = {one.anomaly for one in refuted_by if isinstance(one, Unrefuted)}
    assert none <= {refusal.anomaly for refusal in entry.requirement.refuses}
    assert none.isdisjoint(one.anomaly for one in refuted_by if not isinstance(one, Unrefuted))


def test_every_anomaly_turns_up_live_in_some_requirement_or_is_told_why_in_none() -> None:
    every = [entry.requirement for entry in ENTRIES]
    refuters = [refuter for requirement in every for refuter in requirement.refuted_by]
    live = {refuter.anomaly for refuter in refuters if not isinstance(refuter, Unrefuted)}
    none = {refuter.anomaly for refuter in refuters if isinstance(refuter, Unrefuted)}
    assert {refusal.anomaly for requirement in every for refusal in requirement.refuses} - live - none == set()
    assert live.isdisjoint(none)


@pytest.mark.parametrize("entry", ENTRIES, ids=id_of)
def test_a_witness_stands_behind_every_verdict_that_holds(entry: CatalogueEntry) -> None:
    for evidence in entry.requirement.accepts:
        assert judge(entry.requirement, evidence).witnesses >= 1
