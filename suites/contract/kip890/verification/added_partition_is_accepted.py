"""KIP890-VERIFY-06: a write to an added partition is accepted, and its leader then keeps the transaction as open.

The other side of the defence: it lets through what is right, and a reader of committed records is stopped exactly
before the first record of the open transaction. The second transaction shows it away from offset 0.
"""

from collections.abc import Iterator

from harness.base.json_value import Json
from harness.contract import Failpoint, Level, Observation, Offers, Refusal, Requirement, Source, accepted, agree, row
from harness.contract.byteman.leader_rules import NO_FIRST_UNSTABLE_OFFSET
from harness.contract.byteman.verification_rules import NO_PARTITION_VERIFIED
from harness.contract.doctored import commit, data, evidence, log, sample, step
from harness.evidence.requirement_evidence import Evidence, Step
from harness.lab import Lab

VERSIONS = (9, 11)


def stimulus(lab: Lab) -> None:
    """A transaction for each version adds and writes, is looked at while it is open, and commits."""
    txn, partition = lab.producer("victim"), lab.partition("P1")
    for version in lab.offered("Produce", VERSIONS):
        txn.add(partition)
        txn.produce(partition, as_="first write", version=version)
        lab.sample(f"open v{version}", partition)
        lab.observer.producers(partition, as_=f"producers v{version}")
        txn.end(commit=True)


def check(seen: Evidence) -> Iterator[Observation]:
    """Each is accepted and, while it is open, starts at its batch; at the end all are committed."""
    writes, truth = seen.all("first write"), seen.log()
    for write in writes:
        yield accepted(write, otherwise="added-write-refused")
        if write.error == 0:
            yield from opened(seen, write)
    written = tuple(value for write in writes for value in write.written())
    yield agree("values in the log", truth.values(), written, otherwise="log-differs")
    yield agree("committed values", truth.committed, written, otherwise="committed-view-differs")


def opened(seen: Evidence, write: Step) -> Iterator[Observation]:
    """CurrentTxnStartOffset and last stable offset are the BaseOffset of the batch."""
    base, known = write.number("base_offset"), seen[f"producers v{write.version}"]
    start = row(known, "producers", producer_id=write.request["producer_id"]).get("current_txn_start_offset")
    yield agree("start of the open transaction", start, base, known, otherwise="transaction-not-opened")
    stable = seen.sample(f"open v{write.version}").last_stable_offset
    yield agree("last stable offset", stable, base, write, otherwise="reader-not-stopped")


def kept(start: int) -> dict[str, Json]:
    """What the leader keeps of the producer."""
    return {"producer_id": 7, "current_txn_start_offset": start}


GOOD = evidence(
    step("first write", "Produce", 3, base_offset=0, sent=1, request={"producer_id": 7, "values": ["a"]}),
    step("first write", "Produce", 9, base_offset=2, sent=2, request={"producer_id": 7, "values": ["b"]}),
    step("producers v3", "DescribeProducers", 0, producers=[kept(0)]),
    step("producers v9", "DescribeProducers", 0, producers=[kept(2)]),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0), data(7, 0, "b"), commit(7, 0))},
    samples=(sample("open v3", "P1", 1, 0), sample("open v9", "P1", 3, 2)),
)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-06",
    level=Level.MUST,
    source=Source(890, "Ensure Ongoing Transaction for Older Clients (3)"),
    statement="A write to an added partition is accepted and opens the transaction on the partition's leader.",
    needs=(Offers("Produce", 9),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("added-write-refused", GOOD.with_step("first write", error=19)),
        Refusal("transaction-not-opened", GOOD.with_step("producers v9", producers=[])),
        Refusal("transaction-not-opened", GOOD.with_step("producers v9", producers=[kept(0)])),
        Refusal("reader-not-stopped", GOOD.with_sample("open v9", last_stable_offset=3)),
        Refusal("reader-not-stopped", GOOD.with_sample("open v9", last_stable_offset=0)),
        Refusal("log-differs", GOOD.with_log("P1", log(data(7, 0, "b"), commit(7, 0)), committed=("a", "b"))),
        Refusal("committed-view-differs", GOOD.with_log("P1", committed=("a",))),
    ),
    refuted_by=(
        Failpoint(rules=NO_PARTITION_VERIFIED, anomaly="added-write-refused"),
        Failpoint(rules=NO_FIRST_UNSTABLE_OFFSET, anomaly="reader-not-stopped"),
    ),
)
