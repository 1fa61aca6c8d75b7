"""KIP890-VERIFY-04: a batch must carry the producer id of its transactional id.

The partition is in the transaction of the id; only the producer id belongs to another. Nobody would end what it wrote:
the markers that come carry the id's own producer id. The refusal is the KIP's, which names two codes that fit:
INVALID_PRODUCER_ID_MAPPING, Kafka's, and INVALID_TXN_STATE, because that producer's transaction has no such partition.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.marker_rules import MARKERS_ABORT
from harness.contract.byteman.verification_rules import ANY_PRODUCER_ID_VERIFIED
from harness.contract.doctored import commit, data, evidence, log, refused_write, unsound, written
from harness.contract.refuters import VERIFICATION, Failpoint, Liar, Release, Setting
from harness.contract.version_tables import unadded_by_kip
from harness.lab import Lab

FOREIGN = KafkaError.INVALID_PRODUCER_ID_MAPPING


def stimulus(lab: Lab) -> None:
    """Under A's id a batch comes with B's producer id; then A writes with its own and commits."""
    partition = lab.partition("P1")
    txn, other = lab.producer("victim"), lab.producer("rival")
    txn.add(partition)
    for version in lab.offered("Produce", (9, 11)):
        txn.produce(partition, as_="foreign write", version=version, producer_id=other.producer_id, epoch=other.epoch)
    txn.produce(partition, as_="own write")
    txn.end(commit=True)


def check(seen: Evidence) -> Observations:
    """Each foreign write is refused as not mapped; the log has A's record alone, committed."""
    for write in seen.all("foreign write"):
        yield expect.refused(write, FOREIGN, otherwise="foreign-id-accepted", also=unadded_by_kip(write.version))
    own = seen["own write"]
    yield expect.accepted(own, otherwise="own-write-refused")
    yield from expect.sound(
        seen, "P1", own.written(), appended="log-differs", shown="committed-view-differs", stuck="hanging-transaction"
    )


GOOD = evidence(
    *(refused_write("foreign write", version, FOREIGN) for version in (9, 11)),
    written("own write", 11, "a"),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0))},
)
BOTH = log(data(9, 0, "x"), commit(9, 0), data(7, 0, "a"), commit(7, 0))

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-04",
    source=Source(890, "Old Clients / Produce Requests (INVALID_PRODUCER_ID_MAPPING)"),
    statement="A batch whose producer id is not the one bound to the transactional id is refused, not appended.",
    needs=(Offers("Produce", 9),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("foreign-id-accepted", GOOD.with_step("foreign write", error=0)),
        Refusal("wrong-error", GOOD.with_step("foreign write", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step("foreign write", error=None)),
        Refusal("own-write-refused", GOOD.with_step("own write", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("log-differs", GOOD.with_log("P1", BOTH, committed=("a",))),
        *unsound(GOOD, "P1", appended="log-differs", shown="committed-view-differs", stuck="hanging-transaction"),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="foreign-id-accepted"),
        Setting(key=VERIFICATION, value="false", anomaly="hanging-transaction"),
        Failpoint(rules=ANY_PRODUCER_ID_VERIFIED, anomaly="foreign-id-accepted"),
        Liar(api="Produce", instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="own-write-refused"),
        Setting(key=VERIFICATION, value="false", anomaly="log-differs"),
        Failpoint(rules=MARKERS_ABORT, anomaly="committed-view-differs"),
    ),
)
