"""KIP890-VERIFY-06: a write to an added partition is accepted, and its leader then keeps the transaction as open.

The other side of the defence: it lets through what is right, and a reader of committed records is stopped exactly
before the first record of the open transaction. The second transaction shows it away from offset 0.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import NO_FIRST_UNSTABLE_OFFSET
from harness.contract.byteman.verification_rules import NO_PARTITION_VERIFIED
from harness.contract.doctored import (
    commit,
    data,
    evidence,
    known_producer,
    log,
    producer_row,
    sample,
    unsound,
    written,
)
from harness.contract.refuters import Failpoint
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """A transaction for each version adds and writes, is looked at while it is open, and commits."""
    txn, partition = lab.producer("victim"), lab.partition("P1")
    for version in lab.offered("Produce", (9, 11)):
        txn.add(partition)
        txn.produce(partition, as_="first write", version=version)
        lab.sample(f"open v{version}", partition)
        lab.observer.producers(partition, as_=f"producers v{version}")
        txn.end(commit=True)


def check(seen: Evidence) -> Observations:
    """Each is accepted and, while it is open, starts at its BaseOffset; at the end all are committed."""
    writes = seen.all("first write")
    for write in writes:
        yield expect.accepted(write, otherwise="added-write-refused")
        if write.error == 0:
            known, base = seen[f"producers v{write.version}"], write.answer_int("base_offset")
            yield expect.open_since(known, write.request_int("producer_id"), base, otherwise="transaction-not-opened")
            lso = seen.sample(f"open v{write.version}").last_stable_offset
            yield expect.agree("last stable offset", lso, base, write, otherwise="reader-not-stopped")
    values = [value for write in writes for value in write.written()]
    yield from expect.sound(seen, "P1", values, appended="log-differs", shown="committed-view-differs")


GOOD = evidence(
    written("first write", 3, "a"),
    written("first write", 9, "b", base_offset=2),
    *(known_producer(f"producers v{version}", since=base) for version, base in ((3, 0), (9, 2))),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0), data(7, 0, "b"), commit(7, 0))},
    samples=(sample("open v3", "P1", 1, 0), sample("open v9", "P1", 3, 2)),
)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-06",
    source=Source(890, "Ensure Ongoing Transaction for Older Clients (3)"),
    statement="A write to an added partition is accepted and opens the transaction on the partition's leader.",
    needs=(Offers("Produce", 9),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("added-write-refused", GOOD.with_step("first write", error=KafkaError.NOT_ENOUGH_REPLICAS)),
        Refusal("transaction-not-opened", GOOD.with_step("producers v9", producers=[])),
        Refusal("transaction-not-opened", GOOD.with_step("producers v9", producers=[producer_row(since=0)])),
        *(Refusal("reader-not-stopped", GOOD.with_sample("open v9", last_stable_offset=lso)) for lso in (0, 3)),
        Refusal("log-differs", GOOD.with_log("P1", log(data(7, 0, "b"), commit(7, 0)), committed=("a", "b"))),
        *unsound(GOOD, "P1", appended="log-differs", shown="committed-view-differs"),
    ),
    refuted_by=(
        Failpoint(rules=NO_PARTITION_VERIFIED, anomaly="added-write-refused"),
        Failpoint(rules=NO_FIRST_UNSTABLE_OFFSET, anomaly="reader-not-stopped"),
    ),
)
