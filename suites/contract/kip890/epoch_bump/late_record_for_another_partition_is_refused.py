"""KIP890-BUMP-06: a record of a finished transaction is refused also by partitions that were never part of it.

No marker ever reaches those, so their leaders know nothing of the producer: the coordinator must be asked. One late
pair of records arrives while the marker is still held, another when the transaction is complete. While it is being
ended, CONCURRENT_TRANSACTIONS is right as well for a produce that would add its partition: the coordinator may look at
the pending transition before the epoch (released brokers do), and the client that tries again is then fenced.
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
from harness.contract.byteman.coordinator_rules import ADD_IN_THE_CURRENT_EPOCH
from harness.contract.byteman.transaction_metadata_rules import END_WITHOUT_BUMP
from harness.contract.doctored import adopted, data, log
from harness.contract.refuters import VERIFICATION, Failpoint, Setting
from harness.contract.version_tables import late_add
from harness.lab import Lab

STALE = KafkaError.INVALID_PRODUCER_EPOCH
ENDING, OVER = "late while ending", "late after the end"


def stimulus(lab: Lab) -> None:
    """P1 is written; records for P2 arrive while its marker is held, records for P3 after the end."""
    txn, written = lab.producer(protocol=2), lab.partition("P1")
    early = lab.partition("P2", leader=written.leader)
    after = lab.partition("P3", leader=lab.another_broker(txn.coordinator, written.leader))
    txn.write(written)
    with (
        lab.hold(txn.lane_to(early.leader), name="lane to P2") as first,
        lab.hold(txn.lane_to(after.leader), name="lane to P3") as second,
    ):
        versions = lab.offered("Produce", (11, 12))
        late = {p: [txn.start_produce(p, version=version) for version in versions] for p in (early, after)}
        with lab.preparing(txn, written, commit=True):
            first.release()
            for request in late[early]:
                request.answer(as_=ENDING)
        lab.reached(txn, "CompleteCommit", as_="ended")
        second.release()
        for request in late[after]:
            request.answer(as_=OVER)
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
    lab.observer.producers(early, as_="producers of P2")
    lab.observer.producers(after, as_="producers of P3")
    lab.sample("released")


def check(seen: Evidence) -> Observations:
    """Every late record, really held, is refused and leaves neither a record nor a producer behind."""
    expect.prepared(seen, "markers", end=seen["end"])
    yield expect.accepted(seen["end"], otherwise="end-refused")
    for late in seen.all(ENDING):
        expect.struck(seen, late, by="lane to P2")
        yield expect.refused(late, *late_add(late.version), otherwise="late-record-accepted")
    for late in seen.all(OVER):
        expect.struck(seen, late, by="lane to P3")
        yield expect.refused(late, STALE, otherwise="late-record-accepted")
    yield expect.keeps(seen["kept"], state="CompleteCommit", partitions=(), otherwise="transaction-reopened")
    for alias in ("P2", "P3"):
        yield expect.agree(f"records in {alias}", seen.log(alias).batches, (), otherwise="late-record-appended")
        yield expect.shows(seen[f"producers of {alias}"], producers=[], otherwise="producer-left-behind")


GOOD = adopted(__file__, "KIP890-BUMP-06")

REQUIREMENT = Requirement(
    id="KIP890-BUMP-06",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="A late record to a partition that was not part of the finished transaction is refused too.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, GOOD.with_step(ENDING, error=STALE)),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.PRODUCER_FENCED)),
        *(Refusal("late-record-accepted", GOOD.with_step(late, error=0)) for late in (ENDING, OVER)),
        Refusal("wrong-error", GOOD.with_step(OVER, error=KafkaError.CONCURRENT_TRANSACTIONS)),
        Refusal("unanswered", GOOD.with_step(OVER, error=None, answered=None)),
        Refusal("transaction-reopened", GOOD.with_step("kept", state="Ongoing", partitions=["P3"])),
        Refusal("late-record-appended", GOOD.with_log("P3", log(data(7, 0, "late")))),
        Refusal("producer-left-behind", GOOD.with_step("producers of P2", producers=[{"producer_id": 7}])),
    ),
    refuted_by=(
        Setting(key=VERIFICATION, value="false", anomaly="late-record-accepted"),
        Failpoint(rules=END_WITHOUT_BUMP, anomaly="late-record-appended"),
        Failpoint(rules=ADD_IN_THE_CURRENT_EPOCH, anomaly="transaction-reopened"),
    ),
    order=Order.HOLDS_LINKS,
    access=(Access.LANES, Access.LINKS, Access.BROKERS),
)
