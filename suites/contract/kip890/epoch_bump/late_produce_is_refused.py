"""KIP890-BUMP-05: what arrives after its transaction has ended must not enter the log of any of its partitions.

Records of two partitions lie on the producer's lane to their leader until the transaction is complete. Both versions
are sent to both partitions: version 11 is verified and version 12 adds partitions, so their ways to a refusal differ.
Coordinator and leader each refuse them, and one would hide the other's failure; a batch without the transactional flag
is no coordinator's business, so that its refusal is the leader's own.
"""

from collections.abc import Iterator
from dataclasses import replace

from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Refusal,
    Requirement,
    Source,
    accepted,
    agree,
    refused,
    row,
    shows,
    struck,
)
from harness.contract.byteman.leader_rules import EVERY_TRANSACTION_ONGOING, NO_CHECK_OF_DATA, NO_EPOCH_CHECK
from harness.contract.byteman.transaction_metadata_rules import END_WITHOUT_BUMP
from harness.contract.doctored import commit, data, evidence, held_link, log, step
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab

VERSIONS = (11, 12)
PARTITIONS = ("P1", "P2")


def stimulus(lab: Lab) -> None:
    """A transaction writes to two partitions and ends; more records for both lie on the link until it is complete."""
    txn = lab.producer("victim", protocol=2)
    first, epoch = lab.partition("P1"), txn.epoch
    partitions = (first, lab.partition("P2", leader=first.leader))
    for partition in partitions:
        txn.write(partition)
    lab.sample("open")
    with lab.hold(txn.lane_to(first.leader), name="lane") as held:
        versions = lab.offered("Produce", VERSIONS)
        late = [txn.start_produce(partition, version=version) for version in versions for partition in partitions]
        txn.end(commit=True, as_="end")
        lab.reached(txn, "CompleteCommit", as_="ended")
        lab.sample("ended")
        held.release()
        for request in late:
            request.answer(as_="late produce")
    txn.produce(first, epoch=epoch, sequence=0, transactional=False, as_="late, unverified", retry=())
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
    for partition in partitions:
        lab.observer.producers(partition, as_=f"producers of {partition.alias}")
    lab.sample("released")


def check(seen: Evidence) -> Iterator[Observation]:
    """Each late produce, held past the end of its transaction, is refused with 47 and leaves no trace."""
    for late in seen.all("late produce"):
        struck(seen, late, by="lane")
        yield refused(late, 47, otherwise="late-produce-accepted")
    yield accepted(seen["end"], otherwise="end-refused")
    yield refused(seen["late, unverified"], 47, otherwise="leader-not-fencing")
    own, bumped = seen["end"].asked("producer_id"), seen["end"].asked("producer_epoch") + 1
    kept = seen["kept"]
    yield shows(kept, state="CompleteCommit", producer_epoch=bumped, partitions=[], otherwise="transaction-reopened")
    for alias in PARTITIONS:
        truth = seen.log(alias)
        yield agree(f"data records in {alias}", len(truth.values()), 1, otherwise="late-record-appended")
        yield agree(
            f"committed values of {alias}", truth.committed, truth.values()[:1], otherwise="wrong-records-shown"
        )
        yield agree(f"LSO of {alias}", truth.last_stable_offset, truth.high_watermark, otherwise="stuck-lso")
        described = seen[f"producers of {alias}"]
        state = row(described, "producers", producer_id=own)
        shown = (state.get("producer_epoch"), state.get("current_txn_start_offset"))
        yield agree(f"producer at {alias}", shown, (bumped, -1), described, otherwise="leader-not-fencing")


_FENCED = step(
    "-", "DescribeProducers", 0, producers=[{"producer_id": 7, "producer_epoch": 1, "current_txn_start_offset": -1}]
)
GOOD = evidence(
    step("end", "EndTxn", 5, request={"producer_id": 7, "producer_epoch": 0}, producer_id=7, producer_epoch=1),
    step("late produce", "Produce", 11, error=47, held=20),
    step("late produce", "Produce", 12, error=47, held=20),
    step("late, unverified", "Produce", 12, error=47),
    step("kept", "DescribeTransactions", 0, state="CompleteCommit", producer_epoch=1, partitions=[]),
    replace(_FENCED, name="producers of P1"),
    replace(_FENCED, name="producers of P2"),
    logs={alias: log(data(7, 0, "a"), commit(7, 1)) for alias in PARTITIONS},
    faults=(held_link("lane"),),
)
_LATE = log(data(7, 0, "a"), commit(7, 1), data(7, 0, "late"))

REQUIREMENT = Requirement(
    id="KIP890-BUMP-05",
    level=Level.MUST,
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="A record of the finished transaction that arrives late is refused on every partition of it.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=90)),
        Refusal("leader-not-fencing", GOOD.with_step("late, unverified", error=0)),
        Refusal("late-produce-accepted", GOOD.with_step("late produce", error=0)),
        Refusal("wrong-error", GOOD.with_step("late produce", error=48)),
        Refusal("unanswered", GOOD.with_step("late produce", error=None, answered=None)),
        Refusal("transaction-reopened", GOOD.with_step("kept", state="Ongoing", partitions=["P1"])),
        Refusal("late-record-appended", GOOD.with_log("P2", _LATE, last_stable_offset=3)),
        Refusal("wrong-records-shown", GOOD.with_log("P1", committed=())),
        Refusal("stuck-lso", GOOD.with_log("P1", last_stable_offset=0)),
        Refusal("leader-not-fencing", GOOD.with_step("producers of P2", producers=[])),
    ),
    refuted_by=(
        Failpoint(rules=NO_EPOCH_CHECK, anomaly="leader-not-fencing"),
        Failpoint(rules=END_WITHOUT_BUMP, anomaly="late-produce-accepted"),
        Failpoint(rules=EVERY_TRANSACTION_ONGOING + NO_CHECK_OF_DATA, anomaly="late-record-appended"),
    ),
)
