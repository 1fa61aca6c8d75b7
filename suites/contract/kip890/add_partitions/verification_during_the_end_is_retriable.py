"""KIP890-ATX-07: while a transaction is being ended, verifying one of its partitions is to be tried again.

The answer decides whether an older client's write is dropped or delayed. CONCURRENT_TRANSACTIONS, which leaders turn
into a retriable error, is the KIP's ("Compatibility", "Produce Requests"). An end of version 5 has moved the id on to
the next epoch already; that the epoch before it is then answered as fenced is Kafka's.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    TransactionResult,
    expect,
)
from harness.contract.byteman.adding_rules import (
    ABSENT_PARTITION_VERIFIED,
    ENDING_TRANSACTION_FENCED,
    ENDING_TRANSACTION_OPEN,
    FENCED_EPOCH_VERIFIED,
)
from harness.contract.doctored import data, ended, evidence, joint_add, log, marker, sample, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab, Producer
from harness.lab.powers.joint_requests import part

CONCURRENT, FENCED = KafkaError.CONCURRENT_TRANSACTIONS, KafkaError.PRODUCER_FENCED
GONE = (KafkaError.INVALID_TXN_STATE, KafkaError.TRANSACTION_ABORTABLE)


def stimulus(lab: Lab) -> None:
    """Commit and abort, of old and new clients: verified while the marker is held, and when it is written."""
    for protocol in (1, 2) if lab.offered("EndTxn", (5,)) else (1,):
        for result in TransactionResult:
            txn, case = lab.producer(protocol=protocol), f"{result.noun}-{protocol}"
            verified_while_ending(lab, txn, result, case)


def verified_while_ending(lab: Lab, txn: Producer, result: TransactionResult, case: str) -> None:
    """Verify in the epoch that the coordinator keeps, and in the one before where there is one."""
    slow = lab.partition(case, leader=lab.another_broker(txn.coordinator))
    lab.link(txn.coordinator, slow.leader)  # where there is none, nothing need be opened
    txn.write(slow)
    epoch = txn.epoch
    with lab.preparing(txn, slow, commit=result.commits, name=f"hold {case}", as_=f"end {case}"):
        for version in lab.offered("AddPartitionsToTxn", (4, 5)):
            current, before = part(txn, slow, verify_only=True), part(txn, slow, verify_only=True, epoch=epoch)
            lab.joint().add(txn.coordinator, {"A": current}, version=version, as_=f"during {case}")
            if epoch != txn.epoch:
                lab.joint().add(txn.coordinator, {"A": before}, version=version, as_=f"before {case}")
    lab.reached(txn, result.completed, "Empty", as_=f"completed {case}")
    version = lab.offered("AddPartitionsToTxn", (4, 5))[-1]
    asked = {"A": part(txn, slow, verify_only=True)}
    lab.joint().add(txn.coordinator, asked, version=version, as_=f"after {case}")


def check(seen: Evidence) -> Observations:
    """To be tried again while the end is under way; refused when it is over."""
    for case in [step.name.removeprefix("end ") for step in seen.steps if step.name.startswith("end ")]:
        expect.prepared(seen, f"hold {case}", end=seen[f"end {case}"])
        for asked in seen.all(f"during {case}"):
            yield expect.refused(asked.of("A").at(case), CONCURRENT, otherwise="ending-partition-verified")
        for asked in expect.taken(seen, f"before {case}"):
            answer = asked.of("A").at(case)
            yield expect.refused(answer, FENCED, otherwise="old-epoch-verified", code=Level.SHOULD)
        after = seen[f"after {case}"].of("A").at(case)
        yield expect.refused(after, *GONE, otherwise="ended-partition-verified")
        yield from expect.sound(seen, case, committed=seen.log(case).values() if "commit" in case else ())


def held(result: TransactionResult, version: int) -> Evidence:
    """One case, by the version of its end."""
    case, epoch = f"{result.noun}-{1 if version < 5 else 2}", 1 if version >= 5 else 0
    fenced = (joint_add(f"before {case}", 5, A={case: FENCED}),) if version >= 5 else ()
    return evidence(
        ended(f"end {case}", version=version, committed=result.commits),
        joint_add(f"during {case}", 5, A={case: CONCURRENT}),
        *fenced,
        joint_add(f"after {case}", 5, A={case: KafkaError.TRANSACTION_ABORTABLE}),
        logs={case: log(data(7, 0, "a"), marker(result, epoch))},
        samples=(sample(f"hold {case}", case, 1, 0),),
        held=(f"hold {case}",),
    )


OLD, GOOD = held(TransactionResult.COMMIT, 4), held(TransactionResult.ABORT, 5)


def doctored(name: str, *errors: int) -> Evidence:
    """The verification of that name with another answer, or none."""
    answer = dict(zip(("abort-2",), errors, strict=False))
    return GOOD.with_step(name, **joint_add(name, 5, A=answer).fields)


REQUIREMENT = Requirement(
    id="KIP890-ATX-07",
    source=Source(890, "Compatibility, Deprecation, and Migration Plan, Produce Requests"),
    statement="Verifying a partition of a transaction that is being ended is refused with a retriable error.",
    needs=(Offers("AddPartitionsToTxn", 4),),
    order=Order.HOLDS_LINKS,
    access=(Access.LINKS, Access.BROKERS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, OLD),
    refuses=(
        Refusal("ending-partition-verified", doctored("during abort-2", 0)),
        Refusal("wrong-error", doctored("during abort-2", FENCED)),
        Refusal("unanswered", doctored("during abort-2")),
        Refusal("old-epoch-verified", doctored("before abort-2", 0)),
        Refusal("ended-partition-verified", doctored("after abort-2", 0)),
        *unsound(GOOD, "abort-2", appended=None),
        *unsound(OLD, "commit-1", appended=None),
    ),
    refuted_by=(
        Failpoint(rules=ENDING_TRANSACTION_OPEN, anomaly="ending-partition-verified"),
        Failpoint(rules=ENDING_TRANSACTION_FENCED, anomaly="wrong-error"),
        Failpoint(rules=FENCED_EPOCH_VERIFIED, anomaly="old-epoch-verified"),
        Failpoint(rules=ABSENT_PARTITION_VERIFIED, anomaly="ended-partition-verified"),
    ),
)
