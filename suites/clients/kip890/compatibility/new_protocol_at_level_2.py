"""KIP890-COMPAT-01: a new client uses the new protocol where the brokers finalize transaction.version 2.

Nothing is added by requests of their own, and each transaction has an epoch of its own. That the level is what counts,
and not the versions that are advertised, is asked by COMPAT-02.
"""

from harness.contract import Evidence, Liar, LyingClient, NotSeen, Observations, Refusal, Requirement, Source
from harness.contract.clients.client_doctored import of_client, with_call
from harness.contract.clients.spoken import epochs_are, seen_level, speaks_new
from harness.contract.clients.spoken_stories import OFFERED, logged, started, told
from harness.contract.doctored import log
from suites.clients.forms.error_requirement import LIES
from suites.clients.forms.protocols import LEVELS, NEW_CLIENTS, TWO, UNOFFERED, all_well, spoken_ones, two_transactions


def check(seen: Evidence) -> Observations:
    """Level 2 was shown; both spoke the new protocol alone, each in an epoch of its own."""
    transactions = spoken_ones(seen, *TWO)
    for transaction in transactions:
        if seen_level(seen, "app", transaction.begin.started) != 2:
            raise NotSeen("the brokers did not show level 2 to the client")
        yield speaks_new(transaction)
    yield from epochs_are(transactions, new=True)
    yield from all_well(seen, *TWO, otherwise="new-protocol-fails")


def _good(*, new: bool = True, bumps: int = 1, **facts: object) -> Evidence:
    calls = [started(), *told("first", new=new, offsets=True), *told("second", new=new, epoch=bumps, offsets=True)]
    return of_client(*calls, logs={"P1": log(*logged(*TWO, new=True))}, **{"offered": OFFERED, **facts})  # type: ignore[arg-type]


GOOD = _good()

REQUIREMENT = Requirement(
    id="KIP890-COMPAT-01",
    source=Source(890, "Compatibility, Deprecation, and Migration Plan: New Clients; New Servers"),
    statement="Where level 2 is finalized a new client uses the new protocol alone.",
    needs=(*LEVELS, NEW_CLIENTS),
    stimulus=two_transactions,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("old-protocol-at-level-2", _good(new=False)),
        Refusal("epoch-not-new", _good(bumps=0)),
        Refusal("new-protocol-fails", with_call(GOOD, "second end", outcome="unsure")),
        Refusal("unoffered-version", _good(offered={"1": {"Produce": [0, 11]}})),
        Refusal("lost", GOOD.with_log("P1", committed=())),
    ),
    refuted_by=(
        Liar(api="ApiVersions", fields={"finalized_features_epoch": -1}, anomaly="old-protocol-at-level-2"),
        Liar(api="EndTxn", shift={"producer_epoch": -1}, skip=1, anomaly="epoch-not-new"),
        LyingClient(lie="refuses-ends", anomaly="new-protocol-fails"),
        *LIES,
        UNOFFERED,
    ),
)
