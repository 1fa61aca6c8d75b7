"""What proves the promises of clients: lies, clients, anomalies that there are, and observations that are needed."""

import pytest

from harness.base.paths import CLIENTS
from harness.clients.stdio.lying_adapter import LIES
from harness.clients.toolchains.shipped import SHIPPED
from harness.contract import LyingClient, OtherClient, Unrefuted
from harness.contract.catalogue.requirement_catalogue import CatalogueEntry, find
from suites.selfcheck.contract.test_every_observation_is_needed import unneeded

ENTRIES = list(find(CLIENTS))
SHARED = frozenset({"as_it_said", "within_offered", "read_committed", "read_everything"})
"""Checks that many promises make, proven by tests of their own and not by every promise's refusals."""


def id_of(entry: CatalogueEntry) -> str:
    """The requirement's id, for pytest."""
    return entry.requirement.id


def refused() -> set[str]:
    """Every anomaly that some requirement of clients proves by doctored evidence."""
    return {refusal.anomaly for entry in ENTRIES for refusal in entry.requirement.refuses}


@pytest.mark.parametrize("entry", ENTRIES, ids=id_of)
def test_what_refutes_it_live_names_an_anomaly_that_doctored_evidence_shows(entry: CatalogueEntry) -> None:
    live = {one.anomaly for one in entry.requirement.refuted_by if not isinstance(one, Unrefuted)}
    assert live
    assert live - refused() == set()


@pytest.mark.parametrize("entry", ENTRIES, ids=id_of)
def test_a_lie_is_one_that_there_is_and_a_client_one_that_ships(entry: CatalogueEntry) -> None:
    refuted_by = entry.requirement.refuted_by
    assert {one.lie for one in refuted_by if isinstance(one, LyingClient)} <= set(LIES)
    clients = [one.client for one in refuted_by if isinstance(one, LyingClient | OtherClient)]
    assert {client.partition(":")[0] for client in clients} <= SHIPPED.keys()


def test_every_anomaly_turns_up_live_somewhere_or_is_told_why_not() -> None:
    named = {refuter.anomaly for entry in ENTRIES for refuter in entry.requirement.refuted_by}
    assert refused() - named == set(), "name a live refuter, or say why there is none with Unrefuted"


@pytest.mark.parametrize("entry", ENTRIES, ids=id_of)
def test_every_observation_of_its_own_is_needed_by_some_refusal(entry: CatalogueEntry) -> None:
    lines = [
        line for line in unneeded(entry.requirement) if not SHARED & {f.partition(":")[0] for f in line.split(" > ")}
    ]
    assert lines == []
