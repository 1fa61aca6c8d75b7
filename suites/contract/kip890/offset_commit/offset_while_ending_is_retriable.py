"""KIP890-TOC-03: while the transaction before is still being ended, an offset commit is refused as one to try again.

The markers of a transaction are held on their way to a partition; the same producer already commits the group's offset
for its next transaction, at every version. When the markers are written it gets through, and only that offset counts.

The KIP converts all retriable errors to COORDINATOR_NOT_AVAILABLE, because clients of versions up to 3 try again after
few errors and take CONCURRENT_TRANSACTIONS for fatal (``TransactionManager.TxnOffsetCommitHandler`` up to 3.7); see
suites/contract/findings/KIP890-TOC-03.md. Clients of later versions try again after any retriable error, and Kafka
tells them CONCURRENT_TRANSACTIONS.
"""

from dataclasses import replace

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Observation,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract import TransactionResult as Result
from harness.contract.byteman.verification_rules import EVERY_PARTITION_VERIFIED
from harness.contract.doctored import adopted, step, unsound
from harness.contract.refuters import Failpoint, Liar, Release
from harness.evidence.requirement_evidence import Step
from harness.lab import Group, Lab, Partition, Producer

EARLY, LATER = 7, 9
ENDING, NOT_AVAILABLE = KafkaError.CONCURRENT_TRANSACTIONS, KafkaError.COORDINATOR_NOT_AVAILABLE
OLD_VERSIONS = (0, 1, 2, 3)
TO_OLD_CLIENTS = (
    NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
)
"""After these alone they try again; the KIP chose the first."""


def stimulus(lab: Lab) -> None:
    """A producer of each protocol ends a transaction of each kind and goes on while its markers are held."""
    group = lab.group()
    partition = lab.partition("P1", leader=lab.another_broker(group.offsets.leader))  # whose replication is not held
    for txn, versions in ((lab.producer(protocol=1), range(5)), (lab.producer("rival", protocol=2), (5,))):
        for result in Result:
            if offered := lab.offered("TxnOffsetCommit", versions):
                _while_ending(lab, txn, partition, group, result, offered)
    lab.observer.committed_offset(group, partition, require_stable=True, as_="offset afterwards")


def _while_ending(
    lab: Lab, txn: Producer, partition: Partition, group: Group, result: Result, versions: tuple[int, ...]
) -> None:
    name = _name(versions[-1], result)
    txn.write(partition)
    with lab.preparing(txn, partition, commit=result.commits, name=name):
        for version in versions:
            txn.commit_offset(group, partition, EARLY, as_="early offset", version=version, retry=())
    lab.reached(txn, result.completed, as_="ended")
    if versions[-1] < 5:
        txn.add_offsets(group)
    for version in versions:
        txn.commit_offset(group, partition, LATER, as_="later offset", version=version)
    txn.end(commit=True)
    lab.reached(txn, "CompleteCommit", as_="ended")


def _name(version: int, result: Result) -> str:
    return f"markers of {result.noun}, {'new' if version == 5 else 'old'} protocol"


def check(seen: Evidence) -> Observations:
    """Refused so that each client tries again; then accepted."""
    for end in seen.all("end"):
        result = Result.of(end.request["committed"])
        yield expect.accepted(end, otherwise="end-refused")
        if end.error == 0:
            expect.prepared(seen, _name(5 if end.version >= 5 else 4, result), end=end)
    for early in seen.all("early offset"):
        yield _retriable(early)
    for later in seen.all("later offset"):
        yield expect.accepted(later, otherwise="later-offset-refused")
    yield expect.shows(seen["offset afterwards"], offset=LATER, otherwise="wrong-offset-committed")
    for ended in seen.all("ended"):
        yield expect.over(ended)
    yield from expect.sound(seen, committed=_committed(seen))


def _retriable(early: Step) -> Observation:
    accepted = "accepted-while-ending"
    if early.version in OLD_VERSIONS:
        return expect.refused(early, NOT_AVAILABLE, also=TO_OLD_CLIENTS, otherwise=accepted)
    return expect.refused(early, ENDING, also=TO_OLD_CLIENTS, otherwise=accepted)


def _committed(seen: Evidence) -> list[str]:
    """Of the records, one before each end, those before commits."""
    results = [end.request["committed"] for end in seen.all("end")]
    return [value for value, committed in zip(seen.log().values(), results, strict=False) if committed]


OLD = adopted(__file__, "KIP890-TOC-03")  # by a release that offers versions up to 3
_NEW = (step("early offset", "TxnOffsetCommit", version, error=ENDING) for version in (4, 5))
GOOD = replace(OLD, steps=(*OLD.steps, *_NEW))

REQUIREMENT = Requirement(
    id="KIP890-TOC-03",
    source=Source(890, "Old Clients / TxnOffsetCommit Requests"),
    statement="While the previous transaction completes, the offset commit is refused so that it is tried again.",
    needs=(Offers("TxnOffsetCommit", 3), Offers("AddOffsetsToTxn", 0), Offers("OffsetFetch", 7)),
    order=Order.HOLDS_LINKS,
    access=(Access.LINKS, Access.BROKERS),
    stimulus=stimulus,
    check=check,
    accepts=(OLD, GOOD),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("accepted-while-ending", GOOD.with_step("early offset", error=0)),
        Refusal("wrong-error", GOOD.with_step("early offset", error=ENDING)),
        Refusal("wrong-error", GOOD.with_step("early offset", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step("early offset", error=None)),
        Refusal("later-offset-refused", GOOD.with_step("later offset", error=NOT_AVAILABLE)),
        Refusal("wrong-offset-committed", GOOD.with_step("offset afterwards", offset=EARLY)),
        Refusal("transaction-not-over", GOOD.with_step("ended", state="PrepareAbort")),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Release(version="3.6.2", anomaly="accepted-while-ending"),
        Release(version="3.8.1", anomaly="wrong-error"),
        Failpoint(rules=EVERY_PARTITION_VERIFIED, anomaly="accepted-while-ending"),
        Liar(api="TxnOffsetCommit", instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="later-offset-refused"),
    ),
)
