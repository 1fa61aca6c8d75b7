"""KIP890-LOG-01: the coordinator's records have the flexible layout, and fields of a later release do no harm in them.

Version 1 has what version 0 had (the id, its epoch and timeout, the state, the partitions, two times) and room for
tagged fields, so that the next of them needs no new version, and brokers can be downgraded (KIP-915). The records of a
commit and of an abort are read in every state. Where the log of a cluster of ours can be written to, a record with a
field that no release knows is put there, and the coordinator must keep what else it says. That no partitions are listed
in the completed states, and which times are given, is Kafka's habit.
"""

from harness.contract import (
    Evidence,
    Feature,
    KafkaError,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract import TransactionResult as Result
from harness.contract.byteman import transaction_metadata_rules as rules
from harness.contract.doctored import adopted, unsound
from harness.contract.records.state_records import recorded, state_records, with_record
from harness.contract.refuters import Failpoint
from harness.lab import Lab
from harness.wire.records.transaction_state import NewState

TIMEOUT_MS, RECORDS = 45_000, "records"
LATER, EPOCH = (100, b"a field of a later release".ljust(100)), 4711
"""A tag that is far above those in use, and the epoch beside it."""
STATES = ("Empty", *(state for result in Result for state in ("Ongoing", "Ongoing", result.prepared, result.completed)))


def stimulus(lab: Lab) -> None:
    """A commit and an abort over two partitions; then a record of a later release for the same id."""
    partitions = [lab.partition(alias) for alias in ("P1", "P2")]
    txn = lab.producer(protocol=2, timeout_ms=TIMEOUT_MS)
    for result in Result:
        for partition in partitions:
            txn.produce(partition, as_="write")
        txn.end(commit=result.commits, as_="end")
        lab.reached(txn, result.completed, as_="ended")
    lab.note(RECORDS, lab.observer.transaction_records(txn.transactional_id, txn.coordinator))
    if lab.state_log.can_be_written:
        later = NewState(txn.transactional_id, txn.producer_id, EPOCH, TIMEOUT_MS, tags=(LATER,))
        lab.state_log.replace(later)
        txn.become(txn.producer_id, EPOCH)
        txn.produce(partitions[0], as_="written after a later release")
        txn.end(commit=True, as_="ended after a later release")


def check(seen: Evidence) -> Observations:
    """Every state in its turn, whole; and what was written beside the unknown field is in force."""
    for step in (*seen.all("write"), *seen.all("end")):
        yield expect.accepted(step, otherwise="refused")
    records, own = state_records(seen, RECORDS), seen.all("end")[0].request_int("producer_id")
    states = tuple(record["state"] for record in records)
    yield expect.habit(expect.agree("states in the log", states, STATES, otherwise="states-not-recorded"))
    for number, record in enumerate(records):
        what, state = f"{record['state']}, record {number}", record["state"]
        yield recorded(what, record, version=1, otherwise="wrong-record-version")
        yield recorded(what, record, producer_id=own, timeout_ms=TIMEOUT_MS, otherwise="wrong-fields")
        epoch = (number + 1) // 4
        yield recorded(what, record, producer_epoch=epoch, otherwise="wrong-epoch-recorded")
        begun = isinstance(record["start_ms"], int) and record["start_ms"] > 0
        yield expect.habit(expect.agree(f"begun, {what}", begun, state != "Empty", otherwise="wrong-start-recorded"))
        if state in ("PrepareCommit", "PrepareAbort"):
            named = sorted(map(str, listed if isinstance(listed := record["partitions"], list) else ()))
            yield expect.agree(f"partitions, {what}", named, ["P1", "P2"], otherwise="wrong-partitions-recorded")
    later = expect.taken(seen, "written after a later release")
    for step in (*later, *expect.taken(seen, "ended after a later release")):
        yield expect.accepted(step, otherwise="unknown-field-not-passed-over")
    committed, aborted = (step.written() for step in expect.writes(seen, "P1", "write"))
    after = tuple(value for step in later for value in step.written())
    yield from expect.sound(seen, "P1", (*committed, *aborted, *after), committed=(*committed, *after))


GOOD = adopted(__file__, "KIP890-LOG-01")
EMPTY, ABORTING = "Empty", "PrepareAbort"

REQUIREMENT = Requirement(
    id="KIP890-LOG-01",
    source=Source(890, "Public Interfaces: TransactionLogValue"),
    statement="The coordinator's records have the flexible layout, and unknown fields in them are passed over.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12), Feature("transaction.version", 2)),
    order=Order.ALONE,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("refused", GOOD.with_step("end", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("states-not-recorded", with_record(GOOD, RECORDS, "CompleteAbort", state="CompleteCommit")),
        Refusal("wrong-record-version", with_record(GOOD, RECORDS, ABORTING, version=0)),
        Refusal("wrong-fields", with_record(GOOD, RECORDS, EMPTY, timeout_ms=-1)),
        Refusal("wrong-epoch-recorded", with_record(GOOD, RECORDS, ABORTING, producer_epoch=1)),
        Refusal("wrong-start-recorded", with_record(GOOD, RECORDS, EMPTY, start_ms=1)),
        Refusal("wrong-partitions-recorded", with_record(GOOD, RECORDS, ABORTING, partitions=["P1"])),
        Refusal(
            "unknown-field-not-passed-over",
            GOOD.with_step("written after a later release", error=KafkaError.INVALID_PRODUCER_EPOCH),
        ),
        *unsound(GOOD),
    ),
    refuted_by=(
        Failpoint(rules=rules.RECORDS_AS_OF_LEVEL_0, anomaly="wrong-record-version"),
        Failpoint(rules=rules.UNKNOWN_TAGS_UNREADABLE, anomaly="unknown-field-not-passed-over"),
        Failpoint(rules=rules.END_WITHOUT_BUMP, anomaly="wrong-epoch-recorded"),
        Failpoint(rules=rules.COMPLETED_IDS_ARE_NOT_KEPT, anomaly="states-not-recorded"),
        Failpoint(rules=rules.TIMEOUT_RECORDED_LONGER, anomaly="wrong-fields"),
        Failpoint(rules=rules.NO_START_RECORDED, anomaly="wrong-start-recorded"),
        Failpoint(rules=rules.NO_PARTITIONS_RECORDED, anomaly="wrong-partitions-recorded"),
    ),
)
