"""KIP890-VERIFY-20: a non-transactional batch of a producer with an open transaction on the partition is refused.

Readers of committed records would be shown it whether the transaction commits or not, between records that they are
not shown. The refusal keeps what a transaction writes together, the KIP's motivation; the code is Kafka's
(``ProducerAppendInfo.appendDataBatch``), and so is it that the batch is taken on a partition where nothing of the
producer is open.
"""

from harness.contract import (
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    TransactionResult,
    expect,
)
from harness.contract.byteman.leader_rules import EVERY_BATCH_TAKEN_AS_TRANSACTIONAL
from harness.contract.doctored import data, evidence, log, marker, refused_write, unsound, written
from harness.contract.refuters import Failpoint
from harness.lab import Lab

REFUSED = KafkaError.INVALID_TXN_STATE


def stimulus(lab: Lab) -> None:
    """Commit and abort: after a first record the next has no transactional bit; so has one for another partition."""
    for result in TransactionResult:
        txn, opened, other = lab.producer(), lab.partition(result.noun), lab.partition(f"other-{result.noun}")
        txn.write(opened)
        for version in lab.offered("Produce", (9, 11)):
            txn.produce(opened, transactional=False, version=version, as_="plain write")
        txn.produce(other, transactional=False, as_="plain write elsewhere")
        txn.produce(opened, as_="next write")
        txn.end(commit=result.commits)


def check(seen: Evidence) -> Observations:
    """Refused where the transaction is open, and its sequence not used up; taken where nothing is open."""
    for write in seen.all("plain write"):
        yield expect.refused(write, REFUSED, otherwise="plain-write-accepted", code=Level.SHOULD)
    for write in seen.all("plain write elsewhere"):
        yield expect.habit(expect.accepted(write, otherwise="rightful-write-refused"))
    for write in seen.all("next write"):
        yield expect.accepted(write, otherwise="rightful-write-refused")
    plain = {value for write in seen.all("plain write") for value in write.written()}
    for result in TransactionResult:
        there = seen.log(result.noun).values()
        found = [value for value in there if value in plain]
        yield expect.agree(f"plain records in {result.noun}", found, [], otherwise="plain-record-appended")
        yield from expect.sound(seen, result.noun, committed=there if result.commits else ())
        other = f"other-{result.noun}"
        yield from expect.sound(seen, other, expect.values(seen, "plain write elsewhere", at=other))


GOOD = evidence(
    *(refused_write("plain write", version, REFUSED, "p", to="commit") for version in (9, 11)),
    *(written("plain write elsewhere", 11, result.noun, to=f"other-{result.noun}") for result in TransactionResult),
    written("next write", 11, "b", to="commit"),
    logs={
        alias: truth
        for result in TransactionResult
        for alias, truth in (
            (result.noun, log(data(7, 0, "a"), data(7, 0, "b"), marker(result, 0))),
            (f"other-{result.noun}", log(data(7, 0, result.noun, transactional=False))),
        )
    },
)
SHOWN = log(data(7, 0, "a"), data(7, 0, "p", transactional=False), marker(TransactionResult.ABORT, 0))

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-20",
    source=Source(890, "Motivation"),
    statement="A non-transactional batch is refused where its producer has a transaction open on the partition.",
    needs=(Offers("Produce", 9),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("plain-write-accepted", GOOD.with_step("plain write", error=0)),
        Refusal("wrong-error", GOOD.with_step("plain write", error=KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER)),
        Refusal("unanswered", GOOD.with_step("plain write", error=None)),
        Refusal(
            "rightful-write-refused",
            GOOD.with_step("plain write elsewhere", error=REFUSED)
            .with_log("other-commit", batches=(), committed=())
            .with_log("other-abort", batches=(), committed=()),
        ),
        Refusal("rightful-write-refused", GOOD.with_step("next write", error=REFUSED)),
        Refusal("plain-record-appended", GOOD.with_log("abort", SHOWN, committed=())),
        *(refusal for result in TransactionResult for refusal in unsound(GOOD, result.noun, appended=None)),
        *(refusal for result in TransactionResult for refusal in unsound(GOOD, f"other-{result.noun}")),
    ),
    refuted_by=(
        Failpoint(rules=EVERY_BATCH_TAKEN_AS_TRANSACTIONAL, anomaly="plain-write-accepted"),
        Failpoint(rules=EVERY_BATCH_TAKEN_AS_TRANSACTIONAL, anomaly="plain-record-appended"),
        Failpoint(rules=EVERY_BATCH_TAKEN_AS_TRANSACTIONAL, anomaly="wrong-records-shown"),
    ),
)
