"""KIP890-FEAT-09: at level 1 of transaction.version clients are told to stay with the old protocol, and it is the same.

The KIP lets the feature say two things: that flexible records may be written, and that the new protocol may be used.
Kafka gave them a level each, so level 1 is its own: brokers show it, and clients that obey go on adding partitions, in
an epoch that stays. That the epoch of old requests stays is the KIP's promise at every level. What a client does when
it is shown level 1 is no question for a broker, and is not asked here.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    TransactionResult,
    expect,
)
from harness.contract.byteman.coordinator_rules import MARKERS_IN_ANOTHER_EPOCH
from harness.contract.byteman.feature_rules import LEVEL_CHANGES_ARE_LOST
from harness.contract.byteman.transaction_metadata_rules import COMMITTED_KEEPS_ANOTHER_EPOCH
from harness.contract.checks.feature_checks import FEATURE, at_level
from harness.contract.doctored import abort, commit, data, described, ended, evidence, log, step, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.contract.requirement import Feature
from harness.evidence.requirement_evidence import NotSeen
from harness.lab import Lab

RESULTS = (TransactionResult.COMMIT, TransactionResult.ABORT, TransactionResult.COMMIT)
NEW_END = 5
"""The first version of EndTxn that bumps the epoch."""


def stimulus(lab: Lab) -> None:
    """At level 1 one producer of the old protocol commits, aborts and commits."""
    with lab.admin.keeping(FEATURE) as before:
        lab.levels.ask(FEATURE, 1, down=before > 1)
        lab.levels.shown(FEATURE, 1, as_="shown")
        txn, partition = lab.producer(protocol=1), lab.partition("P1")
        for result in RESULTS:
            txn.add(partition, as_="add")
            txn.produce(partition, as_="write")
            txn.end(commit=result.commits, as_="end")
            lab.reached(txn, result.completed, as_="kept")


def check(seen: Evidence) -> Observations:
    """Every broker shows level 1; the transactions are taken in one epoch, which their markers carry."""
    ends, writes = seen.all("end"), seen.all("write")
    if any(end.version >= NEW_END for end in ends):
        raise NotSeen("the producer did not use the old protocol")
    epoch = ends[0].request_int("producer_epoch")
    yield from at_level(seen, "shown", 1, otherwise="level-not-shown")
    for asked in (*seen.all("add"), *writes, *ends):
        yield expect.accepted(asked, otherwise="old-protocol-refused")
    for kept in seen.all("kept"):
        yield expect.over(kept)
        yield expect.keeps(kept, epoch=epoch, otherwise="epoch-bumped")
    values = [write.written() for write in writes]
    committed = [value for result, own in zip(RESULTS, values, strict=True) if result.commits for value in own]
    markers = tuple((result.marker, epoch) for result in RESULTS)
    yield from expect.sound(seen, "P1", sum(values, ()), committed=committed, markers=markers)


GOOD = evidence(
    *(step("shown", "ApiVersions", 4, node=node, finalized_features={FEATURE: 1}) for node in (1, 2)),
    *(step("add", "AddPartitionsToTxn", 3) for _ in RESULTS),
    *(written("write", 11, value) for value in "abc"),
    *(ended(version=4, committed=result.commits) for result in RESULTS),
    *(described("kept", result.completed) for result in RESULTS),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0), data(7, 0, "b"), abort(7, 0), data(7, 0, "c"), commit(7, 0))},
)

REQUIREMENT = Requirement(
    id="KIP890-FEAT-09",
    source=Source(890, "Transaction Feature Version (0)"),
    statement="At level 1 brokers show that level, and transactions of the old protocol keep their epoch.",
    needs=(Offers("UpdateFeatures", 1), Feature(FEATURE, 2)),
    order=Order.CHANGES_SETTINGS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("level-not-shown", GOOD.with_step("shown", finalized_features={FEATURE: 2})),
        *(
            Refusal("old-protocol-refused", GOOD.with_step(name, error=KafkaError.INVALID_TXN_STATE))
            for name in ("add", "write", "end")
        ),
        Refusal("transaction-not-over", GOOD.with_step("kept", state="PrepareCommit")),
        Refusal("epoch-bumped", GOOD.with_step("kept", producer_epoch=1)),
        Refusal("wrong-markers", GOOD.with_log(truth=GOOD.log(), batches=GOOD.log().batches[:-1])),
        *unsound(GOOD),
    ),
    refuted_by=(
        Failpoint(rules=LEVEL_CHANGES_ARE_LOST, anomaly="level-not-shown"),
        Failpoint(rules=COMMITTED_KEEPS_ANOTHER_EPOCH, anomaly="epoch-bumped"),
        Failpoint(rules=MARKERS_IN_ANOTHER_EPOCH, anomaly="wrong-markers"),
        Liar(api="EndTxn", instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="old-protocol-refused"),
    ),
)
