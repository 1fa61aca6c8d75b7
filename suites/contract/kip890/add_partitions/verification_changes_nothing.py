"""KIP890-ATX-04: a broker that verifies a partition of the open transaction hears yes, and nothing changes.

Verifying is a leader's question on behalf of an older client, which may come late or twice. Success is the KIP's, and
that it is a check alone as well ("Boolean to signify if we want to check ... rather than add it").
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.adding_rules import PRESENT_PARTITION_NOT_VERIFIED, VERIFICATION_RENEWS_THE_START
from harness.contract.doctored import commit, data, described, ended, evidence, joint_add, log, unsound, written
from harness.contract.refuters import Failpoint
from harness.lab import Lab
from harness.lab.powers.joint_requests import part

PARTITIONS = ("P1", "P2", "P3")


def stimulus(lab: Lab) -> None:
    """A transaction with three partitions is verified, whole and in part, and committed."""
    places, txn = [lab.partition(alias) for alias in PARTITIONS], lab.producer()
    txn.add(*places)
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="before")
    for version in lab.offered("AddPartitionsToTxn", (4, 5)):
        for name, asked in (("all", places), ("one", places[1:2])):
            transaction = {"A": part(txn, *asked, verify_only=True)}
            lab.joint().add(txn.coordinator, transaction, version=version, as_=f"verification of {name}")
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="after")
    for place in places:
        txn.produce(place, as_="write")
    txn.end(commit=True, as_="end")


def check(seen: Evidence) -> Observations:
    """Each asked partition is verified; the transaction is as it was, and commits."""
    for name, aliases in (("all", PARTITIONS), ("one", PARTITIONS[1:2])):
        for asked in seen.all(f"verification of {name}"):
            for alias in aliases:
                yield expect.accepted(asked.of("A").at(alias), otherwise="added-partition-not-verified")
    kept = ("state", "producer_id", "producer_epoch", "partitions", "start_time_ms")
    yield expect.unchanged(seen["before"], seen["after"], *kept, otherwise="transaction-changed")
    for write in (*seen.all("write"), seen["end"]):
        yield expect.accepted(write, otherwise="transaction-unusable")
    for alias in PARTITIONS:
        written_here = [value for write in expect.writes(seen, alias, "write") for value in write.written()]
        yield from expect.sound(seen, alias, written_here)


GOOD = evidence(
    described("before", "Ongoing", partitions=PARTITIONS),
    joint_add("verification of all", 4, A=dict.fromkeys(PARTITIONS, 0)),
    joint_add("verification of one", 5, A={"P2": 0}),
    described("after", "Ongoing", partitions=PARTITIONS),
    *(written("write", 11, alias, to=alias) for alias in PARTITIONS),
    ended(version=4),
    logs={alias: log(data(7, 0, alias), commit(7, 0)) for alias in PARTITIONS},
)
UNVERIFIED = joint_add("", 5, A={"P2": KafkaError.TRANSACTION_ABORTABLE}).fields

REQUIREMENT = Requirement(
    id="KIP890-ATX-04",
    source=Source(890, "Ensure Ongoing Transaction for Older Clients (3)"),
    statement="Verifying a partition of the open transaction succeeds and changes nothing.",
    needs=(Offers("AddPartitionsToTxn", 4),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("added-partition-not-verified", GOOD.with_step("verification of one", **UNVERIFIED)),
        Refusal("transaction-changed", GOOD.with_step("after", producer_epoch=1)),
        Refusal("transaction-unusable", GOOD.with_step("end", error=KafkaError.PRODUCER_FENCED)),
        *(refusal for alias in PARTITIONS for refusal in unsound(GOOD, alias)),
    ),
    refuted_by=(
        Failpoint(rules=PRESENT_PARTITION_NOT_VERIFIED, anomaly="added-partition-not-verified"),
        Failpoint(rules=VERIFICATION_RENEWS_THE_START, anomaly="transaction-changed"),
    ),
)
