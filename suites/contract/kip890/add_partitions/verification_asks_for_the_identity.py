"""KIP890-ATX-06: verification looks at the producer's identity first, before any partition.

Otherwise the record of a fenced producer, or one under somebody else's id, would be let in because a newer transaction
has the same partition. That such a verification is refused follows from what it is for; the KIP names no codes:
INVALID_PRODUCER_ID_MAPPING and PRODUCER_FENCED are Kafka's.
"""

from collections.abc import Mapping

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.adding_rules import PRESENT_PARTITION_NOT_VERIFIED
from harness.contract.byteman.verification_rules import (
    ANY_EPOCH_VERIFIED,
    ANY_PRODUCER_ID_VERIFIED,
    UNKNOWN_ID_VERIFIED,
)
from harness.contract.doctored import commit, data, described, evidence, joint_add, log, unsound, written
from harness.contract.refuters import Failpoint
from harness.lab import Lab
from harness.lab.powers.joint_requests import part

MAPPING, FENCED = KafkaError.INVALID_PRODUCER_ID_MAPPING, KafkaError.PRODUCER_FENCED
ERRORS = {"unknown id": MAPPING, "foreign producer": MAPPING, "older epoch": FENCED, "newer epoch": FENCED}


def stimulus(lab: Lab) -> None:
    """The partition of an open transaction is verified under four wrong identities and the right one."""
    partition, txn, other = lab.partition("P1"), lab.producer(), lab.producer()
    unknown = lab.producer(init=False)
    txn.init(identity=(txn.producer_id, txn.epoch))
    txn.add(partition)
    asked: Mapping[str, Mapping[str, str | int]] = {
        "unknown id": {"transactional_id": unknown.transactional_id},
        "foreign producer": {"producer_id": other.producer_id},
        "older epoch": {"epoch": txn.epoch - 1},
        "newer epoch": {"epoch": txn.epoch + 1},
        "own identity": {},
    }
    for version in lab.offered("AddPartitionsToTxn", (4, 5)):
        for name, wrong in asked.items():
            node = unknown.coordinator if name == "unknown id" else txn.coordinator
            request = part(txn, partition, verify_only=True, **wrong)  # type: ignore[arg-type]
            lab.joint().add(node, {"A": request}, version=version, as_=name)
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
    txn.produce(partition, as_="write")
    txn.end(commit=True)


def check(seen: Evidence) -> Observations:
    """Each wrong identity is refused, the right one is not, and the transaction goes on."""
    for name, error in ERRORS.items():
        for asked in seen.all(name):
            answer = asked.of("A").at("P1")
            yield expect.refused(answer, error, otherwise="wrong-identity-verified", code=Level.SHOULD)
    for asked in seen.all("own identity"):
        yield expect.accepted(asked.of("A").at("P1"), otherwise="own-identity-refused")
    yield expect.keeps(seen["kept"], state="Ongoing", partitions=("P1",), otherwise="transaction-changed")
    yield from expect.sound(seen, "P1", seen["write"].written())


GOOD = evidence(
    *(joint_add(name, 5, A={"P1": error}) for name, error in {**ERRORS, "own identity": 0}.items()),
    described("kept", "Ongoing", epoch=1, partitions=("P1",)),
    written("write", 11, "a"),
    logs={"P1": log(data(7, 1, "a"), commit(7, 1))},
)


def doctored(name: str, **errors: int) -> Evidence:
    """The verification of that name with another answer."""
    return GOOD.with_step(name, **joint_add(name, 5, A=errors).fields)


REQUIREMENT = Requirement(
    id="KIP890-ATX-06",
    source=Source(890, "Ensure Ongoing Transaction for Older Clients (3)"),
    statement="Verification under an unknown id, with another producer id or in another epoch is refused.",
    needs=(Offers("AddPartitionsToTxn", 4), Offers("InitProducerId", 3)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("wrong-identity-verified", doctored(name, P1=0)) for name in ERRORS),
        Refusal("wrong-error", doctored("older epoch", P1=MAPPING)),
        Refusal("unanswered", doctored("unknown id")),
        Refusal("own-identity-refused", doctored("own identity", P1=FENCED)),
        Refusal("transaction-changed", GOOD.with_step("kept", partitions=[])),
        *unsound(GOOD),
    ),
    refuted_by=(
        Failpoint(rules=ANY_PRODUCER_ID_VERIFIED, anomaly="wrong-identity-verified"),
        Failpoint(rules=ANY_EPOCH_VERIFIED, anomaly="wrong-identity-verified"),
        Failpoint(rules=UNKNOWN_ID_VERIFIED, anomaly="unanswered"),
        Failpoint(rules=PRESENT_PARTITION_NOT_VERIFIED, anomaly="own-identity-refused"),
    ),
)
