"""KIP890-ATX-05: verifying a partition that is not in the transaction is refused for it alone, and does not add it.

The KIP has INVALID_TXN_STATE; since 3.8 Kafka's coordinator answers TRANSACTION_ABORTABLE, which came later (KIP-890,
"Public Interfaces", as ABORTABLE_ERROR), and leaders turn it into INVALID_TXN_STATE for clients that do not know it.
Tried beside a partition that is in the transaction, and where no transaction is open: before the first, after a commit.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.adding_rules import (
    ABSENT_PARTITION_FENCED,
    ABSENT_PARTITION_VERIFIED,
    PRESENT_PARTITION_NOT_VERIFIED,
    VERIFICATION_ADDS,
)
from harness.contract.doctored import commit, data, described, evidence, joint_add, log, unsound, written
from harness.contract.refuters import Failpoint
from harness.lab import Lab, Partition, Producer
from harness.lab.powers.joint_requests import part

ABORTABLE, INVALID = KafkaError.TRANSACTION_ABORTABLE, KafkaError.INVALID_TXN_STATE
IDLE = ("before the first", "after the commit")


def stimulus(lab: Lab) -> None:
    """Two partitions are verified before, during and after a transaction that adds one of them."""
    added, absent = lab.partition("added"), lab.partition("absent")
    for version in lab.offered("AddPartitionsToTxn", (4, 5)):
        txn = lab.producer()
        verified(lab, txn, version, IDLE[0], added, absent)
        txn.add(added)
        verified(lab, txn, version, "during", added, absent)
        txn.produce(added, as_="write")
        txn.end(commit=True)
        lab.reached(txn, "CompleteCommit", "Empty", as_="completed")
        verified(lab, txn, version, IDLE[1], added, absent)


def verified(lab: Lab, txn: Producer, version: int, name: str, *partitions: Partition) -> None:
    """Verify these, and look at what the coordinator keeps then."""
    lab.joint().add(txn.coordinator, {"A": part(txn, *partitions, verify_only=True)}, version=version, as_=name)
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_=f"kept {name}")


def check(seen: Evidence) -> Observations:
    """Yes for the one that was added, while it is; the other refused each time, and never added."""
    for asked, kept in zip(seen.all("during"), seen.all("kept during"), strict=True):
        yield expect.accepted(asked.of("A").at("added"), otherwise="added-partition-not-verified")
        absent = asked.of("A").at("absent")
        yield expect.refused(absent, INVALID, ABORTABLE, otherwise="absent-partition-verified")
        yield expect.keeps(kept, state="Ongoing", partitions=("added",), otherwise="partition-added")
    for name in IDLE:
        for asked, kept in zip(seen.all(name), seen.all(f"kept {name}"), strict=True):
            for alias in ("added", "absent"):
                answer = asked.of("A").at(alias)
                yield expect.refused(answer, INVALID, ABORTABLE, otherwise="verified-without-transaction")
            yield expect.over(kept, otherwise="transaction-started")
    values = [value for write in seen.all("write") for value in write.written()]
    yield from expect.sound(seen, "added", values)


NONE_OPEN = {"added": ABORTABLE, "absent": ABORTABLE}
GOOD = evidence(
    *(joint_add(name, 5, A=NONE_OPEN) for name in IDLE),
    joint_add("during", 5, A={"added": 0, "absent": ABORTABLE}),
    described(f"kept {IDLE[0]}", "Empty"),
    described("kept during", "Ongoing", partitions=("added",)),
    described(f"kept {IDLE[1]}", "CompleteCommit"),
    written("write", 11, "a", to="added"),
    logs={"added": log(data(7, 0, "a"), commit(7, 0))},
)


def doctored(name: str, **errors: int) -> Evidence:
    """The verification of that name with other answers."""
    return GOOD.with_step(name, **joint_add(name, 5, A=errors).fields)


REQUIREMENT = Requirement(
    id="KIP890-ATX-05",
    source=Source(890, "Ensure Ongoing Transaction for Older Clients (3)"),
    statement="Verifying a partition that is not in the open transaction is refused for it alone and does not add it.",
    needs=(Offers("AddPartitionsToTxn", 4),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, doctored("during", added=0, absent=INVALID)),
    refuses=(
        Refusal("added-partition-not-verified", doctored("during", added=INVALID, absent=INVALID)),
        Refusal("absent-partition-verified", doctored("during", added=0, absent=0)),
        Refusal("wrong-error", doctored("during", added=0, absent=KafkaError.PRODUCER_FENCED)),
        Refusal("unanswered", doctored("during", added=0)),
        Refusal("partition-added", GOOD.with_step("kept during", partitions=["added", "absent"])),
        Refusal("verified-without-transaction", doctored(IDLE[0], added=0, absent=ABORTABLE)),
        Refusal("verified-without-transaction", doctored(IDLE[1], added=0, absent=ABORTABLE)),
        Refusal("transaction-started", GOOD.with_step(f"kept {IDLE[1]}", state="Ongoing")),
        *unsound(GOOD, "added"),
    ),
    refuted_by=(
        Failpoint(rules=ABSENT_PARTITION_VERIFIED, anomaly="absent-partition-verified"),
        Failpoint(rules=VERIFICATION_ADDS, anomaly="partition-added"),
        Failpoint(rules=VERIFICATION_ADDS, anomaly="transaction-started"),
        Failpoint(rules=ABSENT_PARTITION_VERIFIED, anomaly="verified-without-transaction"),
        Failpoint(rules=PRESENT_PARTITION_NOT_VERIFIED, anomaly="added-partition-not-verified"),
        Failpoint(rules=ABSENT_PARTITION_FENCED, anomaly="wrong-error"),
    ),
)
