"""What promises about versions and protocols share."""

from collections.abc import Sequence

from harness.contract import Feature, Library, Observations, Offers, Unrefuted
from harness.contract.clients.client_expect import as_it_said, said, succeeded
from harness.contract.clients.spoken import FEATURE, SpokenTransaction, spoken_transaction, within_offered
from harness.evidence.requirement_evidence import Evidence
from harness.lab.clients import ClientLab
from harness.lab.clients.transact import joined, transact

LEVELS = (Offers("EndTxn", 5), Offers("UpdateFeatures", 1), Feature(FEATURE, 2))
"""Of brokers on which every level can be finalized."""
NEW_CLIENTS = Library(("java",), since="4.0", also=(Library(("franz-go",), since="1.19"),))
"""Libraries that know the new protocol (franz-go: CHANGELOG, v1.19.0 to v1.19.3)."""
UNOFFERED = Unrefuted(
    anomaly="unoffered-version", reason="no client is known that sends a version which its broker does not advertise"
)

TWO = ("first", "second")
"""The names of :func:`two_transactions`."""


def two_transactions(lab: ClientLab) -> None:
    """A stimulus: two transactions with records and offsets."""
    partition, group = lab.partition(), lab.group()
    app = lab.application(group=group)
    app.init()
    joined(app, "joining", partition)
    for name in TWO:
        transact(app, name, partition, group=group)


def spoken_ones(seen: Evidence, *names: str) -> Sequence[SpokenTransaction]:
    """Those transactions."""
    return [spoken_transaction(seen, name) for name in names]


def all_well(seen: Evidence, *names: str, otherwise: str) -> Observations:
    """Each of these transactions ends as asked, versions are those advertised, and the log is as was said."""
    for name in names:
        yield succeeded(said(seen, f"{name} end"), otherwise=otherwise)
    yield from within_offered(seen)
    yield from as_it_said(seen)
