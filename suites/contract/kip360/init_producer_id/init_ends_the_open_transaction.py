"""KIP360-INIT-04: a producer that comes back without an identity ends what it left open, and nobody before it goes on.

The first InitProducerId is refused with the retriable CONCURRENT_TRANSACTIONS while the coordinator aborts under a
bumped epoch; repeated, it returns the next epoch. Tried on v2 (no identity fields) and on the newest.
"""

from collections.abc import Iterator

from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Refusal,
    Release,
    Requirement,
    Source,
    accepted,
    agree,
    refused,
)
from harness.contract.byteman.transaction_metadata_rules import COORDINATORS_ABORT_BUMPS_TWICE
from harness.contract.doctored import abort, data, evidence, log, step
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab

CONCURRENT_TRANSACTIONS = 51


def stimulus(lab: Lab) -> None:
    """A transaction is left open; its id is initialised as after a restart, once, and then until it succeeds."""
    partition = lab.partition("P1")
    for version in lab.offered("InitProducerId", (2, 4, 5)):
        txn = lab.producer()
        txn.write(partition)
        txn.init(version=version, retry=(), adopt=False, as_="first init")
        lab.reached(txn, "CompleteAbort", "Empty", as_="aborted")
        txn.init(version=version, retry=(CONCURRENT_TRANSACTIONS,), as_="init")


def check(seen: Evidence) -> Iterator[Observation]:
    """Refused once, aborted one epoch up, and initialised two epochs up, for the same producer id."""
    inits = seen.all("init")
    for first, aborted in zip(seen.all("first init"), seen.all("aborted"), strict=True):
        yield refused(first, CONCURRENT_TRANSACTIONS, otherwise="open-transaction-passed-over")
        state = (aborted.fields.get("state"), aborted.fields.get("producer_epoch"))
        yield agree("state and epoch", state, ("CompleteAbort", 1), first, aborted, otherwise="wrong-stored-state")
    for init in inits:
        yield accepted(init, otherwise="init-never-succeeds")
        yield agree("the returned epoch", init.fields.get("producer_epoch"), 2, init, otherwise="wrong-returned-epoch")
    promised = [("ABORT", init.fields.get("producer_id"), 1) for init in inits]
    markers = [(marker.control, marker.producer_id, marker.producer_epoch) for marker in seen.log().markers()]
    yield agree("markers", markers, promised, *inits, otherwise="wrong-markers")
    yield agree("committed values", seen.log().committed, (), *inits, otherwise="aborted-record-shown")
    yield agree("LSO", seen.log().last_stable_offset, seen.log().high_watermark, otherwise="stuck-lso")


GOOD = evidence(
    step("first init", "InitProducerId", 4, error=51),
    step("aborted", "DescribeTransactions", 0, state="CompleteAbort", producer_epoch=1),
    step("init", "InitProducerId", 4, producer_id=7, producer_epoch=2),
    logs={"P1": log(data(7, 0, "a"), abort(7, 1))},
)

REQUIREMENT = Requirement(
    id="KIP360-INIT-04",
    level=Level.MUST,
    source=Source(360, "Proposed Changes, 1: no producer id and epoch provided"),
    statement="Without identity, an open transaction is aborted under a bumped epoch, and the caller told to retry.",
    needs=(Offers("InitProducerId", 2), Offers("DescribeTransactions", 0)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("open-transaction-passed-over", GOOD.with_step("first init", error=0)),
        Refusal("wrong-error", GOOD.with_step("first init", error=90)),
        Refusal("wrong-stored-state", GOOD.with_step("aborted", producer_epoch=2)),
        Refusal("wrong-stored-state", GOOD.with_step("aborted", state="Empty")),
        Refusal("init-never-succeeds", GOOD.with_step("init", error=51)),
        Refusal("wrong-returned-epoch", GOOD.with_step("init", producer_epoch=3)),
        Refusal("wrong-markers", GOOD.with_log(truth=log(data(7, 0, "a"), abort(7, 2)))),
        Refusal("aborted-record-shown", GOOD.with_log(committed=("a",))),
        Refusal("stuck-lso", GOOD.with_log(last_stable_offset=0)),
    ),
    refuted_by=(
        Release(version="4.0.0", anomaly="wrong-markers"),
        Failpoint(rules=COORDINATORS_ABORT_BUMPS_TWICE, anomaly="wrong-markers"),
    ),
)
