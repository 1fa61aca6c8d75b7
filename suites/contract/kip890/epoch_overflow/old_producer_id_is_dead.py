"""KIP890-OVF-02: after the overflow the new producer id writes and commits, and the old one can do neither.

A record of the old id that arrives late would belong to no transaction. It is sent in the last epoch and in that of the
marker, to the partition of its transaction and to one that it never wrote to, and at both versions: version 11 is
verified, version 12 adds partitions. The coordinator no longer knows the id; the leader has seen its marker. An end and
an added partition are tried too. The KIP promises that messages of earlier transactions are fenced; with which code is
Kafka's.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract import TransactionResult as Result
from harness.contract.byteman import transaction_metadata_rules as rules
from harness.contract.byteman.leader_rules import EVERY_TRANSACTION_ONGOING, NO_CHECK_OF_DATA
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab, Partition, Producer
from harness.lab.powers.last_epochs import LAST_EPOCH

DEAD = (KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.INVALID_PRODUCER_ID_MAPPING)


def stimulus(lab: Lab) -> None:
    """A last transaction, one more of the new id, and in between whatever the old one may send."""
    first = lab.partition("P1")
    second = lab.partition("P2", leader=first.leader)
    for txn, result in zip(lab.near_the_end(count=2, protocol=2), Result, strict=True):
        old = txn.producer_id
        txn.produce(first, as_=f"write before the {result.noun}")
        txn.end(commit=result.commits, as_="last end")
        lab.reached(txn, result.completed, as_="ended")
        _old_identity(lab, txn, old, (first, second))
        for partition in (first, second):
            txn.produce(partition, as_="next write")
        txn.end(commit=True, as_="next commit")


def _old_identity(lab: Lab, txn: Producer, old: int, partitions: tuple[Partition, ...]) -> None:
    for epoch in (LAST_EPOCH, LAST_EPOCH + 1):
        zombie = lab.same_id(txn.transactional_id, txn.coordinator, "rival", init=False)
        zombie.become(old, epoch)
        zombie.add(partitions[0], as_="old add")
        for version in lab.offered("Produce", (11, 12)):
            for partition in partitions:
                zombie.produce(partition, version=version, retry=(), as_="old write")
    zombie.end(commit=True, version=5, as_="old commit")


def check(seen: Evidence) -> Observations:
    """Everything of the old id is refused; the new one's transaction is complete, and nothing else is in the log."""
    for step in (*seen.all("last end"), *seen.all("next write"), *seen.all("next commit")):
        yield expect.accepted(step, otherwise="new-identity-refused")
    for step in (*seen.all("old write"), *seen.all("old add"), *seen.all("old commit")):
        yield expect.refused(step, *DEAD, code=Level.SHOULD, otherwise="old-identity-accepted")
    for last, following in zip(seen.all("last end"), seen.all("next commit"), strict=True):
        yield expect.identity(following, last.answer_int("producer_id"), 1, otherwise="wrong-next-identity")
    for alias in ("P1", "P2"):
        before = [expect.writes(seen, alias, f"write before the {result.noun}") for result in Result]
        committed, aborted = (tuple(value for step in steps for value in step.written()) for steps in before)
        later = [value for step in expect.writes(seen, alias, "next write") for value in step.written()]
        in_order = (*committed, *later[:1], *aborted, *later[1:])
        yield from expect.sound(seen, alias, in_order, committed=(*committed, *later), appended="old-record-appended")


GOOD = adopted(__file__, "KIP890-OVF-02")

REQUIREMENT = Requirement(
    id="KIP890-OVF-02",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1), overflow"),
    statement="After the overflow the new producer id goes on, and whatever the old one sends is refused.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    access=(Access.LOAD,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("new-identity-refused", GOOD.with_step("next write", error=KafkaError.INVALID_PRODUCER_ID_MAPPING)),
        Refusal("new-identity-refused", GOOD.with_step("next commit", error=KafkaError.PRODUCER_FENCED)),
        *(Refusal("old-identity-accepted", GOOD.with_step(f"old {what}", error=0)) for what in ("write", "add")),
        Refusal("old-identity-accepted", GOOD.with_step("old commit", error=0)),
        Refusal("wrong-error", GOOD.with_step("old write", error=KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER)),
        Refusal("unanswered", GOOD.with_step("old write", error=None, answered=None)),
        Refusal("wrong-next-identity", GOOD.with_step("next commit", producer_epoch=0)),
        *unsound(GOOD, "P2", appended="old-record-appended"),
    ),
    refuted_by=(
        Failpoint(rules=EVERY_TRANSACTION_ONGOING + NO_CHECK_OF_DATA, anomaly="old-record-appended"),
        Failpoint(rules=rules.END_KEEPS_THE_PRODUCER_ID, anomaly="wrong-next-identity"),
        Failpoint(rules=rules.END_KEEPS_THE_PRODUCER_ID, anomaly="old-identity-accepted"),
        Failpoint(rules=rules.END_KEEPS_THE_PRODUCER_ID, anomaly="new-identity-refused"),
    ),
)
