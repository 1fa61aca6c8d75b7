"""KIP890-VERIFY-15: in one request, the write to an added partition is accepted and the one beside it is refused.

One verification goes out for all partitions of a Produce request; each must get its own answer. For version 11 the KIP
has INVALID_TXN_STATE as well; TRANSACTION_ABORTABLE is Kafka's.
"""

from harness.base.json_value import Json
from harness.contract import Evidence, KafkaError, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.marker_rules import MARKERS_ABORT
from harness.contract.byteman.verification_rules import NO_PARTITION_VERIFIED
from harness.contract.doctored import commit, data, evidence, log, step, unsound
from harness.contract.refuters import VERIFICATION, Failpoint, Release, Setting
from harness.contract.version_tables import unadded, unadded_by_kip
from harness.lab import Lab

REFUSED, ABORTABLE = KafkaError.INVALID_TXN_STATE, KafkaError.TRANSACTION_ABORTABLE


def stimulus(lab: Lab) -> None:
    """Two partitions of one leader, of which the transaction adds one; one request writes to both."""
    txn, added = lab.producer("victim"), lab.partition("added")
    beside = lab.partition("beside", leader=added.leader)
    for sequence, version in enumerate(lab.offered("Produce", (9, 11))):
        txn.add(added)
        txn.produce(added, beside, as_="write to both", version=version, sequence=sequence)
        txn.end(commit=True)


def check(seen: Evidence) -> Observations:
    """Success beside a refusal; only the added partition grows, and its records are committed."""
    for write in seen.all("write to both"):
        yield expect.accepted(write.at("added"), otherwise="added-write-refused")
        beside, code, allowed = write.at("beside"), unadded(write.version), unadded_by_kip(write.version)
        yield expect.refused(beside, code, otherwise="unadded-write-accepted", also=allowed)
        there = [value in seen.log("added").committed for value in write.written()]
        yield expect.agree("values committed where added", there, [True, False], write, otherwise="added-record-lost")
    yield from expect.sound(seen, "beside", (), appended="unadded-record-appended", stuck="hanging-transaction")


def answers(version: int, added: int | None, beside: int | None) -> Evidence:
    """These answers, and a sound log of both partitions."""
    partitions: dict[str, Json] = {"added": {"error": added}, "beside": {"error": beside}}
    return evidence(
        step("write to both", "Produce", version, request={"values": ["a", "b"]}, partitions=partitions),
        logs={"added": log(data(7, 0, "a"), commit(7, 0)), "beside": log()},
    )


GOOD = answers(9, 0, REFUSED)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-15",
    source=Source(890, "Ensure Ongoing Transaction for Older Clients (3)"),
    statement="Of several partitions in one request, those in the transaction are written and the others are refused.",
    needs=(Offers("Produce", 9),),
    order=Order.ALONE,  # verifications of others beside it change the code (KIP890-VERIFY-17)
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, answers(11, 0, ABORTABLE)),
    refuses=(
        Refusal("unadded-write-accepted", answers(9, 0, 0)),
        Refusal("added-write-refused", answers(9, REFUSED, REFUSED)),
        Refusal("added-write-refused", answers(11, None, ABORTABLE)),
        Refusal("wrong-error", answers(9, 0, ABORTABLE)),
        Refusal("wrong-error", answers(11, 0, REFUSED)),
        Refusal("unanswered", answers(11, 0, None)),
        Refusal("added-record-lost", GOOD.with_log("added", committed=())),
        *unsound(GOOD, "beside", appended="unadded-record-appended", stuck="hanging-transaction"),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="unadded-write-accepted"),
        Setting(key=VERIFICATION, value="false", anomaly="hanging-transaction"),
        Failpoint(rules=NO_PARTITION_VERIFIED, anomaly="added-write-refused"),
        Failpoint(rules=MARKERS_ABORT, anomaly="added-record-lost"),
    ),
)
