"""KIP890-BUMP-02: an abort bumps the epoch as a commit does, and from the prepare record on.

The marker is held on the link from the coordinator to the leader, so that the transaction can be looked at while it is
being aborted; the rollback itself must not wait for the answer to be used.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.transaction_metadata_rules import ABORT_WITHOUT_BUMP, ABORTED_KEEPS_THE_LAST_EPOCH
from harness.contract.doctored import abort, data, described, ended, evidence, log, sample, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """Write, abort while the marker is held, look, release, look again."""
    txn, partition = lab.producer(protocol=2), lab.partition("P1")
    txn.write(partition)
    lab.sample("open")
    with lab.preparing(txn, partition, commit=False, as_="abort"):
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept while held")
    lab.reached(txn, "CompleteAbort", as_="kept")
    lab.sample("released")


def check(seen: Evidence) -> Observations:
    """The abort returns the next epoch; PrepareAbort and CompleteAbort both keep it; nothing is shown."""
    expect.prepared(seen, "markers")
    end = seen["abort"]
    own, bumped = end.request_int("producer_id"), end.request_int("producer_epoch") + 1
    yield expect.accepted(end, otherwise="abort-refused")
    yield expect.shows(end, producer_id=own, otherwise="wrong-producer-id")
    yield expect.shows(end, producer_epoch=bumped, otherwise="epoch-not-bumped")
    for name, state in (("kept while held", "PrepareAbort"), ("kept", "CompleteAbort")):
        yield expect.keeps(seen[name], state=state, otherwise="wrong-state")
        yield expect.keeps(seen[name], producer_id=own, epoch=bumped, otherwise="another-identity-kept")
    yield expect.marks(seen, "P1", ("ABORT", bumped), otherwise="wrong-marker")
    yield from expect.sound(seen, committed=(), shown="aborted-record-shown")


GOOD = evidence(
    ended("abort", committed=False),
    described("kept while held", "PrepareAbort", epoch=1),
    described("kept", "CompleteAbort", epoch=1),
    logs={"P1": log(data(7, 0, "a"), abort(7, 1))},
    samples=(sample("markers", "P1", 1, 0),),
    held=("markers",),
)

REQUIREMENT = Requirement(
    id="KIP890-BUMP-02",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="An abort with EndTxn v5 returns the same producer id and the next epoch, kept from PrepareAbort on.",
    needs=(Offers("EndTxn", 5),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("abort-refused", GOOD.with_step("abort", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("wrong-producer-id", GOOD.with_step("abort", producer_id=-1)),
        Refusal("epoch-not-bumped", GOOD.with_step("abort", producer_epoch=0)),
        Refusal("wrong-state", GOOD.with_step("kept", state="PrepareAbort")),
        Refusal("another-identity-kept", GOOD.with_step("kept while held", producer_epoch=0)),
        Refusal("wrong-marker", GOOD.with_log("P1", log(data(7, 0, "a"), abort(7, 0)))),
        *unsound(GOOD, appended=None, shown="aborted-record-shown"),
    ),
    refuted_by=(
        Failpoint(rules=ABORT_WITHOUT_BUMP, anomaly="epoch-not-bumped"),
        Failpoint(rules=ABORTED_KEEPS_THE_LAST_EPOCH, anomaly="another-identity-kept"),
    ),
    order=Order.HOLDS_LINKS,
    access=(Access.LINKS,),
)
