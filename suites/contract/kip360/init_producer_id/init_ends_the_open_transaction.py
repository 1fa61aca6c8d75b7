"""KIP360-INIT-04: a producer that comes back without an identity ends what it left open, and nobody before it goes on.

The first InitProducerId is refused with the retriable CONCURRENT_TRANSACTIONS while the coordinator aborts under a
bumped epoch; repeated, it returns the next epoch. Tried on v2 (no identity fields) and on the newest.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.transaction_metadata_rules import COORDINATORS_ABORT_BUMPS_TWICE
from harness.contract.doctored import abort, data, described, evidence, log, step, unsound
from harness.contract.refuters import Failpoint, Release
from harness.lab import Lab

CONCURRENT = KafkaError.CONCURRENT_TRANSACTIONS


def stimulus(lab: Lab) -> None:
    """A transaction is left open; its id is initialised as after a restart, once, and then until it succeeds."""
    partition = lab.partition("P1")
    for version in lab.offered("InitProducerId", (2, 4, 5)):
        txn = lab.producer()
        txn.write(partition)
        txn.init(version=version, retry=(), adopt=False, as_="first init")
        lab.reached(txn, "CompleteAbort", "Empty", as_="aborted")
        txn.init(version=version, retry=(CONCURRENT,), as_="init")


def check(seen: Evidence) -> Observations:
    """Refused once, aborted one epoch up, and initialised two epochs up, for the same producer id."""
    inits = seen.all("init")
    for first, aborted in zip(seen.all("first init"), seen.all("aborted"), strict=True):
        yield expect.refused(first, CONCURRENT, otherwise="open-transaction-passed-over")
        yield expect.keeps(aborted, state="CompleteAbort", epoch=1, otherwise="wrong-stored-state")
    for init in inits:
        yield expect.accepted(init, otherwise="init-never-succeeds")
        yield expect.shows(init, producer_epoch=2, otherwise="wrong-returned-epoch")
    markers = tuple(("ABORT", 1, init.answer_int("producer_id")) for init in inits)
    yield from expect.sound(seen, committed=(), markers=markers, shown="aborted-record-shown")


GOOD = evidence(
    step("first init", "InitProducerId", 4, error=CONCURRENT),
    described("aborted", "CompleteAbort", epoch=1),
    step("init", "InitProducerId", 4, producer_id=7, producer_epoch=2),
    logs={"P1": log(data(7, 0, "a"), abort(7, 1))},
)

REQUIREMENT = Requirement(
    id="KIP360-INIT-04",
    source=Source(360, "Proposed Changes, 1: no producer id and epoch provided"),
    statement="Without identity, an open transaction is aborted under a bumped epoch, and the caller told to retry.",
    needs=(Offers("InitProducerId", 2), Offers("DescribeTransactions", 0)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("open-transaction-passed-over", GOOD.with_step("first init", error=0)),
        Refusal("wrong-error", GOOD.with_step("first init", error=KafkaError.PRODUCER_FENCED)),
        Refusal("wrong-stored-state", GOOD.with_step("aborted", producer_epoch=2)),
        Refusal("wrong-stored-state", GOOD.with_step("aborted", state="Empty")),
        Refusal("init-never-succeeds", GOOD.with_step("init", error=CONCURRENT)),
        Refusal("wrong-returned-epoch", GOOD.with_step("init", producer_epoch=3)),
        Refusal("wrong-markers", GOOD.with_log(truth=log(data(7, 0, "a"), abort(7, 2)))),
        *unsound(GOOD, appended=None, shown="aborted-record-shown"),
    ),
    refuted_by=(
        Release(version="4.0.0", anomaly="wrong-markers"),
        Failpoint(rules=COORDINATORS_ABORT_BUMPS_TWICE, anomaly="wrong-markers"),
    ),
)
