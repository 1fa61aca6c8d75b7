"""What refutes the promises of clients: lies and clients that there are, anomalies of their own, and few gaps."""

import pytest

from harness.base.paths import CLIENTS
from harness.clients.stdio.lying_adapter import LIES
from harness.clients.toolchains.shipped import SHIPPED
from harness.contract import LyingClient, OtherClient, Unrefuted
from harness.contract.catalogue.requirement_catalogue import CatalogueEntry, find

ENTRIES = list(find(CLIENTS))
GAPS: frozenset[str] = frozenset({"stuck"})
"""Anomalies that nothing turns up live yet, and no file says why. It may only shrink."""


def id_of(entry: CatalogueEntry) -> str:
    """The requirement's id, for pytest."""
    return entry.requirement.id


@pytest.mark.parametrize("entry", ENTRIES, ids=id_of)
def test_what_refutes_it_live_names_an_anomaly_of_its_own(entry: CatalogueEntry) -> None:
    refuted_by = entry.requirement.refuted_by
    own = {refusal.anomaly for refusal in entry.requirement.refuses}
    assert any(not isinstance(one, Unrefuted) for one in refuted_by)
    assert {one.anomaly for one in refuted_by} <= own


@pytest.mark.parametrize("entry", ENTRIES, ids=id_of)
def test_a_lie_is_one_that_there_is_and_a_client_one_that_ships(entry: CatalogueEntry) -> None:
    refuted_by = entry.requirement.refuted_by
    assert {one.lie for one in refuted_by if isinstance(one, LyingClient)} <= set(LIES)
    clients = [one.client for one in refuted_by if isinstance(one, LyingClient | OtherClient)]
    assert {client.partition(":")[0] for client in clients} <= SHIPPED.keys()
    assert all(client.partition(":")[2] for client in clients), "a client that refutes has a version"


def test_every_anomaly_turns_up_live_somewhere_or_is_told_why_not() -> None:
    every = [entry.requirement for entry in ENTRIES]
    named = {refuter.anomaly for requirement in every for refuter in requirement.refuted_by}
    gaps = {refusal.anomaly for requirement in every for refusal in requirement.refuses} - named
    assert gaps - GAPS == set(), "name a live refuter, or say why there is none with Unrefuted"
    assert GAPS - gaps == set(), "it has a refuter now: take it out of the gaps"
