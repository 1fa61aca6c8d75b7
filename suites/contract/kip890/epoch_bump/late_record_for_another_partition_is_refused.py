"""KIP890-BUMP-06: a record of a finished transaction is refused also by partitions that were never part of it.

No marker ever reaches those, so their leaders know nothing of the producer: the coordinator must be asked. One late
pair of records arrives while the marker is still held, another when the transaction is complete. While it is being
ended, CONCURRENT_TRANSACTIONS is right as well for a produce that would add its partition: the coordinator may look at
the pending transition before the epoch (released brokers do), and the client that tries again is then fenced.
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
    Setting,
    Source,
    accepted,
    agree,
    refused,
    shows,
    struck,
)
from harness.contract.byteman.coordinator_rules import ADD_IN_THE_CURRENT_EPOCH
from harness.contract.byteman.transaction_metadata_rules import END_WITHOUT_BUMP
from harness.contract.doctored import commit, data, evidence, held_link, log, sample, step
from harness.evidence.requirement_evidence import Evidence, NotSeen
from harness.lab import Lab

VERSIONS = (11, 12)


def stimulus(lab: Lab) -> None:
    """P1 is written; records for P2 arrive while its marker is held, records for P3 after the end."""
    txn = lab.producer("victim", protocol=2)
    written = lab.partition("P1")
    early = lab.partition("P2", leader=written.leader)
    after = lab.partition("P3", leader=_third(lab, txn.coordinator, written.leader))
    txn.write(written)
    with (
        lab.hold(lab.link(txn.coordinator, written.leader), name="marker link") as marker,
        lab.hold(txn.lane_to(early.leader), name="lane to P2") as first,
        lab.hold(txn.lane_to(after.leader), name="lane to P3") as second,
    ):
        pairs = {p: [txn.start_produce(p, version=v) for v in lab.offered("Produce", VERSIONS)] for p in (early, after)}
        txn.end(commit=True, as_="end")
        lab.sample("marker held")
        first.release()
        for late in pairs[early]:
            late.answer(as_="late while ending")
        marker.release()
        lab.reached(txn, "CompleteCommit", as_="ended")
        second.release()
        for late in pairs[after]:
            late.answer(as_="late after the end")
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
    lab.observer.producers(early, as_="producers of P2")
    lab.observer.producers(after, as_="producers of P3")
    lab.sample("released")


def _third(lab: Lab, *others: int) -> int:
    return next(broker for broker in lab.cluster.topology.brokers if broker not in others)


def check(seen: Evidence) -> Iterator[Observation]:
    """Every late record, really held, is refused and leaves neither a record nor a producer behind."""
    ending = seen.sample("marker held")
    if seen["end"].error == 0 and ending.high_watermark <= ending.last_stable_offset:
        raise NotSeen("the transaction was over before the marker was released")
    yield accepted(seen["end"], otherwise="end-refused")
    for late in seen.all("late while ending"):
        struck(seen, late, by="lane to P2")
        codes = (47, 51) if late.version >= 12 else (47,)
        yield refused(late, *codes, otherwise="late-record-accepted")
    for late in seen.all("late after the end"):
        struck(seen, late, by="lane to P3")
        yield refused(late, 47, otherwise="late-record-accepted")
    yield shows(seen["kept"], state="CompleteCommit", partitions=[], otherwise="transaction-reopened")
    for alias in ("P2", "P3"):
        yield agree(f"records in {alias}", seen.log(alias).batches, (), otherwise="late-record-appended")
        described = seen[f"producers of {alias}"]
        yield agree(
            f"producers of {alias}", described.fields["producers"], [], described, otherwise="producer-left-behind"
        )


GOOD = evidence(
    step("end", "EndTxn", 5),
    step("late while ending", "Produce", 11, error=47, held=20),
    step("late while ending", "Produce", 12, error=51, held=20),
    step("late after the end", "Produce", 11, error=47, held=40, answered=200),
    step("late after the end", "Produce", 12, error=47, held=40, answered=200),
    step("kept", "DescribeTransactions", 0, state="CompleteCommit", partitions=[]),
    step("producers of P2", "DescribeProducers", 0, producers=[]),
    step("producers of P3", "DescribeProducers", 0, producers=[]),
    logs={"P1": log(data(7, 0, "a"), commit(7, 1)), "P2": log(), "P3": log()},
    faults=(held_link("lane to P2"), held_link("lane to P3", ended=90)),
    samples=(sample("marker held", "P1", 1, 0),),
)

REQUIREMENT = Requirement(
    id="KIP890-BUMP-06",
    level=Level.MUST,
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="A late record to a partition that was not part of the finished transaction is refused too.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, GOOD.with_step("late while ending", error=47)),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=90)),
        Refusal("late-record-accepted", GOOD.with_step("late after the end", error=0)),
        Refusal("late-record-accepted", GOOD.with_step("late while ending", error=0)),
        Refusal("wrong-error", GOOD.with_step("late after the end", error=51)),
        Refusal("unanswered", GOOD.with_step("late after the end", error=None, answered=None)),
        Refusal("transaction-reopened", GOOD.with_step("kept", state="Ongoing", partitions=["P3"])),
        Refusal("late-record-appended", GOOD.with_log("P3", log(data(7, 0, "late")))),
        Refusal("producer-left-behind", GOOD.with_step("producers of P2", producers=[{"producer_id": 7}])),
    ),
    refuted_by=(
        Setting(key="transaction.partition.verification.enable", value="false", anomaly="late-record-accepted"),
        Failpoint(rules=END_WITHOUT_BUMP, anomaly="late-record-appended"),
        Failpoint(rules=ADD_IN_THE_CURRENT_EPOCH, anomaly="transaction-reopened"),
    ),
    order=Order.HOLDS_LINKS,
)
