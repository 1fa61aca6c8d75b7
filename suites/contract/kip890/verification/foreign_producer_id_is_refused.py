"""KIP890-VERIFY-04: a transactional id writes with its own producer id or not at all.

The partition is in the transaction of the id; only the producer id belongs to another. Nobody would end what it wrote:
the markers that come carry the id's own producer id.
"""

from collections.abc import Iterator

from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Refusal,
    Release,
    Requirement,
    Setting,
    Source,
    accepted,
    agree,
    refused,
)
from harness.contract.byteman.verification_rules import ANY_PRODUCER_ID_VERIFIED
from harness.contract.doctored import commit, data, evidence, log, step
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab

VERSIONS = (9, 11)


def stimulus(lab: Lab) -> None:
    """Under A's id a batch comes with B's producer id; then A writes with its own and commits."""
    partition = lab.partition("P1")
    txn, other = lab.producer("victim"), lab.producer("rival")
    txn.add(partition)
    for version in lab.offered("Produce", VERSIONS):
        txn.produce(partition, as_="foreign write", version=version, producer_id=other.producer_id, epoch=other.epoch)
    txn.produce(partition, as_="own write")
    txn.end(commit=True)


def check(seen: Evidence) -> Iterator[Observation]:
    """Each foreign write is refused with 49; the log has A's record alone, committed."""
    for write in seen.all("foreign write"):
        yield refused(write, 49, otherwise="foreign-id-accepted")
    own, truth = seen["own write"], seen.log()
    yield accepted(own, otherwise="own-write-refused")
    yield agree("values in the log", truth.values(), own.written(), own, otherwise="log-differs")
    yield agree("committed values", truth.committed, truth.values(), own, otherwise="committed-view-differs")
    yield agree("last stable offset", truth.last_stable_offset, truth.high_watermark, otherwise="hanging-transaction")


GOOD = evidence(
    step("foreign write", "Produce", 9, error=49),
    step("foreign write", "Produce", 11, error=49),
    step("own write", "Produce", 11, request={"values": ["a"]}),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0))},
)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-04",
    level=Level.MUST,
    source=Source(890, "Old Clients / Produce Requests (INVALID_PRODUCER_ID_MAPPING)"),
    statement="A batch whose producer id is not the one bound to the transactional id is refused, not appended.",
    needs=(Offers("Produce", 9),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("foreign-id-accepted", GOOD.with_step("foreign write", error=0)),
        Refusal("wrong-error", GOOD.with_step("foreign write", error=48)),
        Refusal("unanswered", GOOD.with_step("foreign write", error=None)),
        Refusal("own-write-refused", GOOD.with_step("own write", error=48)),
        Refusal("log-differs", GOOD.with_log("P1", log(data(9, 0, "x"), commit(9, 0), data(7, 0, "a"), commit(7, 0)))),
        Refusal("committed-view-differs", GOOD.with_log("P1", committed=())),
        Refusal("hanging-transaction", GOOD.with_log("P1", last_stable_offset=0)),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="foreign-id-accepted"),
        Setting(key="transaction.partition.verification.enable", value="false", anomaly="hanging-transaction"),
        Failpoint(rules=ANY_PRODUCER_ID_VERIFIED, anomaly="foreign-id-accepted"),
    ),
)
