"""KIP890-TOC-05: offsets under an identity that is not the transactional id's are refused, and change nothing.

An id that nobody has initialised, the producer id of another producer, and an epoch that was superseded, at every
version, while the id's own transaction with the same group is open: the group's partition is part of it, so that
nothing but the identity is wrong. The own offset is committed in the end and is the only one that counts.

That they are refused is promised; the KIP says of INVALID_PRODUCER_ID_MAPPING that it is fatal, and not when it comes,
so the codes are Kafka's. So is it that offsets lie in a partition which DescribeTransactions lists (KIP890-TOC-02).
Releases up to 3.6 compare the epoch with what the partition knows, and nothing else.
"""

from harness.contract import (
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.looks_rules import NO_PARTITIONS_TOLD
from harness.contract.byteman.verification_rules import (
    ANY_EPOCH_VERIFIED,
    ANY_PRODUCER_ID_VERIFIED,
    UNKNOWN_ID_VERIFIED,
)
from harness.contract.doctored import commit, data, described, evidence, log, step
from harness.contract.refuters import VERIFICATION, Failpoint, Liar, Release, Setting
from harness.lab import Lab

OWN, FOREIGN = 7, 9
UNMAPPED = KafkaError.INVALID_PRODUCER_ID_MAPPING
STALE = KafkaError.INVALID_PRODUCER_EPOCH


def stimulus(lab: Lab) -> None:
    """The id's first epoch is superseded; its second epoch's transaction is open while the others are tried."""
    txn, other = lab.producer("victim"), lab.producer("rival")
    partition, group = lab.partition("P1"), lab.group()
    txn.init()
    txn.add_offsets(group)
    for version in lab.offered("TxnOffsetCommit", range(6)):
        unknown = f"{txn.transactional_id}-unknown"
        txn.commit_offset(group, partition, FOREIGN, transactional_id=unknown, version=version, as_="unknown id")
        txn.commit_offset(
            group, partition, FOREIGN, producer_id=other.producer_id, version=version, as_="foreign producer id"
        )
        txn.commit_offset(group, partition, FOREIGN, epoch=txn.epoch - 1, version=version, as_="stale epoch")
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="still open")
    txn.commit_offset(group, partition, OWN, as_="own offset")
    txn.end(commit=True, as_="end")
    lab.reached(txn, "CompleteCommit", as_="ended")
    lab.observer.committed_offset(group, partition, require_stable=True, as_="offset afterwards")


def check(seen: Evidence) -> Observations:
    """Each identity has its error; the own transaction goes on."""
    for name in ("unknown id", "foreign producer id"):
        for foreign in seen.all(name):
            yield expect.refused(foreign, UNMAPPED, code=Level.SHOULD, otherwise="foreign-offset-accepted")
    for stale in seen.all("stale epoch"):
        yield expect.refused(stale, STALE, code=Level.SHOULD, otherwise="stale-offset-accepted")
    yield expect.keeps(seen["still open"], state="Ongoing", otherwise="transaction-disturbed")
    yield expect.habit(expect.keeps(seen["still open"], partitions=("offsets",), otherwise="partition-not-listed"))
    for own in (seen["own offset"], seen["end"]):
        yield expect.accepted(own, otherwise="own-offset-refused")
    yield expect.over(seen["ended"])
    after = seen["offset afterwards"]
    yield expect.accepted(after, otherwise="offset-left-pending")
    if after.error == 0:
        yield expect.shows(after, offset=OWN, otherwise="wrong-offset-committed")
    if "offsets" in seen.logs:
        written = [batch for batch in seen.log("offsets").batches if not batch.control]
        yield expect.agree("batches of offsets", len(written), 1, otherwise="foreign-offset-appended")


GOOD = evidence(
    *(step("unknown id", "TxnOffsetCommit", version, error=UNMAPPED) for version in (3, 5)),
    *(step("foreign producer id", "TxnOffsetCommit", version, error=UNMAPPED) for version in (3, 5)),
    *(step("stale epoch", "TxnOffsetCommit", version, error=STALE) for version in (3, 5)),
    described("still open", "Ongoing", epoch=1, partitions=("offsets",)),
    step("own offset", "TxnOffsetCommit", 4),
    step("end", "EndTxn", 4),
    described("ended", "CompleteCommit", epoch=1),
    step("offset afterwards", "OffsetFetch", 9, offset=OWN),
    logs={"offsets": log(data(7, 1), commit(7, 1))},
)

REQUIREMENT = Requirement(
    id="KIP890-TOC-05",
    source=Source(890, "Old Clients / TxnOffsetCommit Requests"),
    statement="Offsets under an unknown id, a foreign producer id or a stale epoch are refused and change nothing.",
    needs=(Offers("TxnOffsetCommit", 3), Offers("AddOffsetsToTxn", 0), Offers("OffsetFetch", 7)),
    order=Order.ALONE,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("foreign-offset-accepted", GOOD.with_step("unknown id", error=0)),
        Refusal("foreign-offset-accepted", GOOD.with_step("foreign producer id", error=0)),
        Refusal("wrong-error", GOOD.with_step("foreign producer id", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step("unknown id", error=None)),
        Refusal("stale-offset-accepted", GOOD.with_step("stale epoch", error=0)),
        Refusal("wrong-error", GOOD.with_step("stale epoch", error=KafkaError.PRODUCER_FENCED)),
        Refusal("transaction-disturbed", GOOD.with_step("still open", state="CompleteAbort")),
        Refusal("partition-not-listed", GOOD.with_step("still open", partitions=[])),
        Refusal("own-offset-refused", GOOD.with_step("own offset", error=KafkaError.TRANSACTION_ABORTABLE)),
        Refusal("own-offset-refused", GOOD.with_step("end", error=KafkaError.PRODUCER_FENCED)),
        Refusal("transaction-not-over", GOOD.with_step("ended", state="Ongoing")),
        Refusal(
            "offset-left-pending",
            GOOD.with_step("offset afterwards", error=KafkaError.UNSTABLE_OFFSET_COMMIT, offset=-1),
        ),
        Refusal("wrong-offset-committed", GOOD.with_step("offset afterwards", offset=FOREIGN)),
        Refusal("foreign-offset-appended", GOOD.with_log("offsets", log(data(8, 0), data(7, 1), commit(7, 1)))),
    ),
    refuted_by=(
        Release(version="3.6.2", anomaly="foreign-offset-accepted"),
        Setting(key=VERIFICATION, value="false", anomaly="foreign-offset-appended"),
        Failpoint(rules=ANY_PRODUCER_ID_VERIFIED, anomaly="offset-left-pending"),
        Failpoint(rules=ANY_EPOCH_VERIFIED, anomaly="stale-offset-accepted"),
        Failpoint(rules=UNKNOWN_ID_VERIFIED, anomaly="foreign-offset-accepted"),
        Failpoint(rules=NO_PARTITIONS_TOLD, anomaly="partition-not-listed"),
        Liar(api="TxnOffsetCommit", instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="own-offset-refused"),
    ),
)
