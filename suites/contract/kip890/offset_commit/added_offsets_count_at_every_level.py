"""KIP890-TOC-08: an old client's AddOffsetsToTxn and TxnOffsetCommit go on working at every transaction.version.

Every version of both up to 4, at the levels 0, 1 and 2, in transactions that commit and that abort in turn. The offset
of the last commit is the group's, and each transaction leaves one marker, in the epoch that an old client keeps.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    NotSeen,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract import TransactionResult as Result
from harness.contract.byteman.coordinator_rules import ADD_NOT_KEPT
from harness.contract.byteman.group_rules import ABORTED_OFFSETS_COUNT, COMMITTED_OFFSETS_ARE_LOST
from harness.contract.doctored import adopted, commit, log
from harness.contract.refuters import Failpoint
from harness.contract.requirement import Feature
from harness.lab import Lab

FEATURE, LEVELS = "transaction.version", (0, 1, 2)
UNSTABLE = KafkaError.UNSTABLE_OFFSET_COMMIT


def stimulus(lab: Lab) -> None:
    """At each level a producer that adds the group, commits an offset and ends, at each version."""
    partition, group, offset = lab.partition("P1"), lab.group(), 0
    for level in LEVELS:
        with lab.admin.feature(FEATURE, level):
            txn = lab.producer()
            lab.observer.advertised(txn.coordinator, as_=f"level {level}")
            for version in lab.offered("TxnOffsetCommit", range(5)):
                offset, result = offset + 1, Result.of(version % 2 == 0)
                txn.add_offsets(group, version=version, as_="add")
                txn.commit_offset(group, partition, offset, version=version, as_="offset")
                txn.end(commit=result.commits, as_="end")
                lab.reached(txn, result.completed, as_="ended")
                lab.observer.committed_offset(group, partition, require_stable=True, as_="told", retry=(UNSTABLE,))


def check(seen: Evidence) -> Observations:
    """All accepted; after each end the group has the offset of the last commit."""
    for level in LEVELS:
        finalized = seen[f"level {level}"].fields.get("finalized_features")
        if not isinstance(finalized, dict) or finalized.get(FEATURE, 0) != level:
            raise NotSeen(f"{FEATURE} was not at level {level}")
    for name in ("add", "offset", "end"):
        for asked in seen.all(name):
            yield expect.accepted(asked, otherwise=f"{name}-refused")
    for ended in seen.all("ended"):
        yield expect.over(ended)
    counts, markers = -1, list[expect.MarkerRow]()
    for offset, end, told in zip(seen.all("offset"), seen.all("end"), seen.all("told"), strict=True):
        counts = offset.request_int("offset") if end.request["committed"] else counts
        own, epoch = end.request_int("producer_id"), end.request_int("producer_epoch")
        markers.append((Result.of(end.request["committed"]).marker, epoch, own))
        yield expect.shows(told, offset=counts, otherwise="wrong-offset-committed")
    if "offsets" in seen.logs:
        yield expect.marks(seen, "offsets", *markers)


GOOD = adopted(__file__, "KIP890-TOC-08")

REQUIREMENT = Requirement(
    id="KIP890-TOC-08",
    source=Source(890, "Implicitly Add Partitions to Transactions on Produce for New Clients (2)"),
    statement="AddOffsetsToTxn and TxnOffsetCommit up to v4 keep working at every level of transaction.version.",
    needs=(Offers("TxnOffsetCommit", 4), Offers("AddOffsetsToTxn", 4), Offers("OffsetFetch", 7), Feature(FEATURE, 2)),
    order=Order.CHANGES_SETTINGS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(
            Refusal(f"{name}-refused", GOOD.with_step(name, error=KafkaError.TRANSACTION_ABORTABLE))
            for name in ("add", "offset", "end")
        ),
        Refusal("transaction-not-over", GOOD.with_step("ended", state="Ongoing")),
        Refusal("wrong-offset-committed", GOOD.with_step("told", offset=-1)),
        Refusal("wrong-markers", GOOD.with_log("offsets", log(commit(7, 0)))),
    ),
    refuted_by=(
        Failpoint(rules=ADD_NOT_KEPT, anomaly="offset-refused"),
        Failpoint(rules=ABORTED_OFFSETS_COUNT, anomaly="wrong-offset-committed"),
        Failpoint(rules=COMMITTED_OFFSETS_ARE_LOST, anomaly="wrong-offset-committed"),
    ),
)
