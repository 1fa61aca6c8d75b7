"""KIP890-TOC-01: offsets are refused in a transaction to which their partition was not added.

Tried with a producer that the group's coordinator knows from a transaction before, to which it was added: once in a
transaction that is open elsewhere and once where none is open. The offset of before stays the group's, and nothing is
pending, so that consumers are not kept from beginning (KIP-447).

The KIP has INVALID_TXN_STATE for every old client and rejected an abortable error here; Kafka answers those that know
TRANSACTION_ABORTABLE (version 4) with it. Releases up to 3.6 do not verify offsets.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.verification_rules import EVERY_PARTITION_VERIFIED
from harness.contract.doctored import abort, commit, data, evidence, log, step, unsound, written
from harness.contract.refuters import VERIFICATION, Failpoint, Release, Setting
from harness.contract.version_tables import unadded_offset
from harness.lab import Lab

OLD, NEW = 7, 9
"""The group's offset, committed as promised; and the one that comes without adding."""
WRONG_STATE = KafkaError.INVALID_TXN_STATE


def stimulus(lab: Lab) -> None:
    """One transaction adds the group and commits; the next ones do not add it, and it is asked what was committed."""
    txn, partition, group = lab.producer("victim"), lab.partition("P1"), lab.group()
    txn.add_offsets(group)
    txn.commit_offset(group, partition, OLD)
    txn.end(commit=True)
    lab.reached(txn, "CompleteCommit", as_="added before")
    for version in lab.offered("TxnOffsetCommit", range(5)):
        txn.commit_offset(group, partition, NEW, as_="unadded offset", version=version)
        result = Result.of(version % 2 == 0)
        txn.add(partition)
        txn.produce(partition, as_=f"write before {result.noun}")
        txn.commit_offset(group, partition, NEW, as_="unadded offset", version=version)
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="open elsewhere")
        txn.end(commit=result.commits)
    lab.completed(partition)
    lab.observer.committed_offset(group, partition, require_stable=True, as_="offset afterwards")


def check(seen: Evidence) -> Observations:
    """Each is refused, opens nothing and changes nothing."""
    for unadded in seen.all("unadded offset"):
        code = unadded_offset(unadded.version)
        yield expect.refused(unadded, code, also=(WRONG_STATE,), otherwise="unadded-offset-accepted")
    for described in seen.all("open elsewhere"):
        yield expect.keeps(described, state="Ongoing", partitions=("P1",), otherwise="partition-added")
    after = seen["offset afterwards"]
    yield expect.accepted(after, otherwise="offset-left-pending")
    if after.error == 0:
        yield expect.shows(after, offset=OLD, otherwise="wrong-offset-committed")
    if "offsets" in seen.logs:
        written = [batch for batch in seen.log("offsets").batches if not batch.control]
        yield expect.agree("batches of offsets", len(written), 1, otherwise="unadded-offset-appended")
    yield from expect.sound(seen, committed=expect.values(seen, "write before commit"))


GOOD = evidence(
    *(step("unadded offset", "TxnOffsetCommit", version, error=unadded_offset(version)) for version in (3, 4)),
    step("open elsewhere", "DescribeTransactions", 0, state="Ongoing", partitions=["P1"]),
    written("write before commit", 11, "a"),
    step("offset afterwards", "OffsetFetch", 9, offset=OLD),
    logs={
        "P1": log(data(7, 0, "a"), commit(7, 0), data(7, 0, "b"), abort(7, 0)),
        "offsets": log(data(7, 0), commit(7, 0)),
    },
)

REQUIREMENT = Requirement(
    id="KIP890-TOC-01",
    source=Source(890, "Old Clients / TxnOffsetCommit Requests"),
    statement="Offsets committed in a transaction to which the group's partition was not added are refused.",
    needs=(Offers("TxnOffsetCommit", 3), Offers("AddOffsetsToTxn", 0), Offers("OffsetFetch", 7)),
    order=Order.ALONE,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unadded-offset-accepted", GOOD.with_step("unadded offset", error=0)),
        Refusal("unanswered", GOOD.with_step("unadded offset", error=None)),
        Refusal("wrong-error", GOOD.with_step("unadded offset", error=KafkaError.UNKNOWN_SERVER_ERROR)),
        Refusal("partition-added", GOOD.with_step("open elsewhere", partitions=["P1", "offsets"])),
        Refusal(
            "offset-left-pending",
            GOOD.with_step("offset afterwards", error=KafkaError.UNSTABLE_OFFSET_COMMIT, offset=-1),
        ),
        Refusal("wrong-offset-committed", GOOD.with_step("offset afterwards", offset=NEW)),
        Refusal("unadded-offset-appended", GOOD.with_log("offsets", log(data(7, 0), commit(7, 0), data(7, 0)))),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Release(version="3.6.2", anomaly="unadded-offset-accepted"),
        Setting(key=VERIFICATION, value="false", anomaly="unadded-offset-appended"),
        Failpoint(rules=EVERY_PARTITION_VERIFIED, anomaly="offset-left-pending"),
    ),
)
