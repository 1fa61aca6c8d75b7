"""KIP890-BUMP-02: an abort bumps the epoch as a commit does, and from the prepare record on.

The marker is held on the link from the coordinator to the leader, so that the transaction can be looked at while it is
being aborted; the rollback itself must not wait for the answer to be used.
"""

from collections.abc import Iterator

from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    accepted,
    agree,
    shows,
)
from harness.contract.byteman.transaction_metadata_rules import ABORT_WITHOUT_BUMP, ABORTED_KEEPS_THE_LAST_EPOCH
from harness.contract.doctored import abort, data, evidence, held_link, log, sample, step
from harness.evidence.requirement_evidence import Evidence, NotSeen
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """Write, abort while the marker is held, look, release, look again."""
    txn = lab.producer("victim", protocol=2)
    partition = lab.partition("P1")
    txn.write(partition)
    lab.sample("open")
    with lab.hold(lab.link(txn.coordinator, partition.leader), name="marker link") as held:
        txn.end(commit=False, as_="abort")
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept while held")
        lab.sample("held")
        held.release()
    lab.reached(txn, "CompleteAbort", as_="kept")
    lab.sample("released")


def check(seen: Evidence) -> Iterator[Observation]:
    """The abort returns the next epoch; PrepareAbort and CompleteAbort both keep it; nothing is shown."""
    held, end = seen.sample("held"), seen["abort"]
    seen.fault("marker link")
    if held.high_watermark <= held.last_stable_offset:
        raise NotSeen("the transaction was not open while the marker was held")
    own, bumped = end.asked("producer_id"), end.asked("producer_epoch") + 1
    yield accepted(end, otherwise="abort-refused")
    yield shows(end, producer_id=own, otherwise="wrong-producer-id")
    yield shows(end, producer_epoch=bumped, otherwise="epoch-not-bumped")
    for name, state in (("kept while held", "PrepareAbort"), ("kept", "CompleteAbort")):
        yield shows(seen[name], state=state, otherwise="wrong-state")
        yield shows(seen[name], producer_id=own, producer_epoch=bumped, otherwise="another-identity-kept")
    truth = seen.log()
    yield agree("markers", truth.marks(), (("ABORT", bumped),), end, otherwise="wrong-marker")
    yield agree("committed values", truth.committed, (), end, otherwise="aborted-record-shown")
    yield agree("LSO", truth.last_stable_offset, truth.high_watermark, end, otherwise="stuck-lso")


GOOD = evidence(
    step(
        "abort",
        "EndTxn",
        5,
        request={"producer_id": 7, "producer_epoch": 0, "committed": False},
        producer_id=7,
        producer_epoch=1,
    ),
    step("kept while held", "DescribeTransactions", 0, state="PrepareAbort", producer_id=7, producer_epoch=1),
    step("kept", "DescribeTransactions", 0, state="CompleteAbort", producer_id=7, producer_epoch=1),
    logs={"P1": log(data(7, 0, "a"), abort(7, 1))},
    samples=(sample("held", "P1", 1, 0),),
    faults=(held_link("marker link"),),
)

REQUIREMENT = Requirement(
    id="KIP890-BUMP-02",
    level=Level.MUST,
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="An abort with EndTxn v5 returns the same producer id and the next epoch, kept from PrepareAbort on.",
    needs=(Offers("EndTxn", 5),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("abort-refused", GOOD.with_step("abort", error=48)),
        Refusal("wrong-producer-id", GOOD.with_step("abort", producer_id=-1)),
        Refusal("epoch-not-bumped", GOOD.with_step("abort", producer_epoch=0)),
        Refusal("wrong-state", GOOD.with_step("kept", state="PrepareAbort")),
        Refusal("another-identity-kept", GOOD.with_step("kept while held", producer_epoch=0)),
        Refusal("wrong-marker", GOOD.with_log("P1", log(data(7, 0, "a"), abort(7, 0)))),
        Refusal("aborted-record-shown", GOOD.with_log(committed=("a",))),
        Refusal("stuck-lso", GOOD.with_log(last_stable_offset=0)),
    ),
    refuted_by=(
        Failpoint(rules=ABORT_WITHOUT_BUMP, anomaly="epoch-not-bumped"),
        Failpoint(rules=ABORTED_KEEPS_THE_LAST_EPOCH, anomaly="another-identity-kept"),
    ),
    order=Order.HOLDS_LINKS,
)
