"""KIP890-TOC-07: offsets of a member that the group does not know are refused, though their partition was added.

A member's former generation, and a member that never was, each in a transaction that commits and in one that aborts.
Only the offset of the right member counts in the end.

That the group refuses both is promised by KIP-447, and no end of a transaction brings their offsets back. In Kafka the
coordinator of the group adds its partition before it looks at the member (``CoordinatorRuntime``, its transactional
write operations), so that the transaction goes on with that partition and leaves a marker there: a habit.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.group_rules import ANY_MEMBER_MAY_COMMIT, NEW_OFFSETS_TAKEN_FOR_OLD
from harness.contract.byteman.verification_rules import EVERY_PARTITION_VERIFIED
from harness.contract.doctored import adopted, commit, data, log
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab

RIGHT, WRONG = 7, 9
REFUSALS = {"former generation": KafkaError.ILLEGAL_GENERATION, "unknown member": KafkaError.UNKNOWN_MEMBER_ID}


def stimulus(lab: Lab) -> None:
    """One member, in its second generation; each wrong commit in a transaction of its own, the right one at last."""
    txn, partition, group = lab.producer(protocol=2), lab.partition("P1"), lab.group()
    with lab.member(group, partition) as member:
        member.join()
        now = member.generation
        wrong = {"former generation": (member.member_id, now - 1), "unknown member": ("nobody", now)}
        for result in Result:
            for name, (member_id, generation) in wrong.items():
                txn.commit_offset(group, partition, WRONG, version=5, member=member_id, generation=generation, as_=name)
                lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="open")
                txn.end(commit=result.commits, as_="end")
                lab.reached(txn, result.completed, as_="ended")
        txn.commit_offset(
            group, partition, RIGHT, version=5, member=member.member_id, generation=now, as_="right member"
        )
        txn.end(commit=True, as_="last end")
        lab.reached(txn, "CompleteCommit", as_="ended")
    lab.observer.committed_offset(group, partition, require_stable=True, as_="offset afterwards")


def check(seen: Evidence) -> Observations:
    """Refused and not committed; the partition is part of the transaction and gets its marker."""
    for name, code in REFUSALS.items():
        for wrong in seen.all(name):
            yield expect.refused(wrong, code, otherwise="wrong-member-accepted")
    for described in seen.all("open"):
        joined = expect.keeps(described, state="Ongoing", partitions=("offsets",), otherwise="partition-not-added")
        yield expect.habit(joined)
    for end in seen.all("end"):
        yield expect.habit(expect.accepted(end, otherwise="end-refused"))
    for right in (seen["right member"], seen["last end"]):
        yield expect.accepted(right, otherwise="right-member-refused")
    for ended in seen.all("ended"):
        yield expect.over(ended)
    yield expect.shows(seen["offset afterwards"], offset=RIGHT, otherwise="wrong-offset-committed")
    if "offsets" in seen.logs:
        written = [batch for batch in seen.log("offsets").batches if not batch.control]
        yield expect.agree("batches of offsets", len(written), 1, otherwise="refused-offset-appended")
        rows = [(Result.of(end.request["committed"]).marker,) for end in (*seen.all("end"), seen["last end"])]
        yield expect.habit(expect.marks(seen, "offsets", *rows))


GOOD = adopted(__file__, "KIP890-TOC-07")

REQUIREMENT = Requirement(
    id="KIP890-TOC-07",
    source=Source(890, "Implicitly Add Partitions to Transactions on Produce for New Clients (2)"),
    statement="Offsets of a wrong member are refused; the group's partition is part of the transaction all the same.",
    needs=(Offers("TxnOffsetCommit", 5), Offers("EndTxn", 5), Offers("JoinGroup", 5), Offers("OffsetFetch", 7)),
    order=Order.ALONE,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("wrong-member-accepted", GOOD.with_step(name, error=0)) for name in REFUSALS),
        Refusal("wrong-error", GOOD.with_step("unknown member", error=KafkaError.TRANSACTION_ABORTABLE)),
        Refusal("unanswered", GOOD.with_step("former generation", error=None)),
        Refusal("partition-not-added", GOOD.with_step("open", partitions=[])),
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("right-member-refused", GOOD.with_step("right member", error=KafkaError.UNKNOWN_MEMBER_ID)),
        Refusal("transaction-not-over", GOOD.with_step("ended", state="Ongoing")),
        Refusal("wrong-offset-committed", GOOD.with_step("offset afterwards", offset=WRONG)),
        Refusal(
            "refused-offset-appended",
            GOOD.with_log("offsets", log(data(7, 0), *GOOD.log("offsets").batches)),
        ),
        Refusal("wrong-markers", GOOD.with_log("offsets", log(data(7, 4), commit(7, 5)))),
    ),
    refuted_by=(
        Failpoint(rules=ANY_MEMBER_MAY_COMMIT, anomaly="wrong-member-accepted"),
        Failpoint(rules=NEW_OFFSETS_TAKEN_FOR_OLD, anomaly="wrong-error"),
        Failpoint(rules=EVERY_PARTITION_VERIFIED, anomaly="partition-not-added"),
        Liar(api="TxnOffsetCommit", instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="right-member-refused"),
        Failpoint(rules=ANY_MEMBER_MAY_COMMIT, anomaly="refused-offset-appended"),
    ),
)
