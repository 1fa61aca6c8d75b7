"""KIP890-BUMP-06: a record of a finished transaction is refused also by partitions that were never part of it.

No marker ever reaches those, so their leaders know nothing of the producer: the coordinator must be asked. Each version
has partitions of its own, because what one version leaves behind changes what the other meets. Where a link from the
coordinator to the leader can be held, records also arrive while the transaction is still being ended.

The KIP promises that the record does not get in. The codes are Kafka's: while the end is under way,
CONCURRENT_TRANSACTIONS is right as well for a produce that would add its partition, because the coordinator may look at
the pending transition before the epoch (released brokers do), and the client that tries again is then fenced.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
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
from harness.contract.byteman.coordinator_rules import ADD_IN_THE_CURRENT_EPOCH
from harness.contract.byteman.transaction_metadata_rules import END_WITHOUT_BUMP
from harness.contract.doctored import adopted, data, log
from harness.contract.refuters import VERIFICATION, Failpoint, Setting
from harness.contract.version_tables import late_add
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab, Partition

STALE = KafkaError.INVALID_PRODUCER_EPOCH
UNTOUCHED = {11: "P2", 12: "P3"}
UNTOUCHED_WHILE_ENDING = {11: "P4", 12: "P5"}
"""The partition that gets a late record, by the version of its Produce."""
ENDING, OVER = "late while ending", "late after the end"


def stimulus(lab: Lab) -> None:
    """P1 is written and the transaction ended, by commit and by abort; then records come for partitions without it."""
    written = lab.partition("P1")
    untouched = {version: lab.partition(UNTOUCHED[version]) for version in lab.offered("Produce", (11, 12))}
    for result in Result:
        txn = lab.producer(protocol=2)
        epoch = txn.epoch
        txn.write(written)
        txn.end(commit=result.commits, as_="end")
        lab.reached(txn, result.completed, as_="ended")
        for version, partition in untouched.items():
            txn.produce(partition, version=version, epoch=epoch, sequence=0, as_=OVER)
            lab.observer.producers(partition, as_=f"producers after {result.noun}")
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
    _while_ending(lab, written)


def _while_ending(lab: Lab, written: Partition) -> None:
    txn = lab.producer(protocol=2)
    epoch = txn.epoch
    if (txn.coordinator, written.leader) not in lab.cluster.topology.links:
        return
    names = {version: UNTOUCHED_WHILE_ENDING[version] for version in lab.offered("Produce", (11, 12))}
    untouched = {version: lab.partition(name, leader=written.leader) for version, name in names.items()}
    txn.write(written)
    with lab.preparing(txn, written, commit=True, as_="held end"):
        for version, partition in untouched.items():
            txn.produce(partition, version=version, epoch=epoch, sequence=0, as_=ENDING, retry=())
    lab.reached(txn, "CompleteCommit", as_="kept")


def check(seen: Evidence) -> Observations:
    """Every late record is refused and leaves neither a record nor a producer behind."""
    for end in seen.all("end"):
        yield expect.accepted(end, otherwise="end-refused")
    for late in seen.all(OVER):
        yield expect.refused(late, STALE, code=Level.SHOULD, otherwise="late-record-accepted")
        yield _not_appended(seen, UNTOUCHED[late.version], late)
    for late in expect.taken(seen, ENDING):
        expect.prepared(seen, "markers", end=seen["held end"])
        yield expect.refused(late, *late_add(late.version), code=Level.SHOULD, otherwise="late-record-accepted")
        yield _not_appended(seen, UNTOUCHED_WHILE_ENDING[late.version], late)
    for kept in seen.all("kept"):
        yield expect.over(kept, otherwise="transaction-reopened")
        yield expect.keeps(kept, partitions=(), otherwise="transaction-reopened")
    for result in Result:
        for leader in seen.all(f"producers after {result.noun}"):
            yield expect.habit(expect.shows(leader, producers=[], otherwise="producer-left-behind"))


def _not_appended(seen: Evidence, alias: str, late: Step) -> Observation:
    return expect.agree(f"records in {alias}", seen.log(alias).batches, (), late, otherwise="late-record-appended")


GOOD = adopted(__file__, "KIP890-BUMP-06")

REQUIREMENT = Requirement(
    id="KIP890-BUMP-06",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="A late record to a partition that was not part of the finished transaction is refused too.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, GOOD.with_step(ENDING, error=STALE), GOOD.without_step(ENDING)),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.PRODUCER_FENCED)),
        *(Refusal("late-record-accepted", GOOD.with_step(late, error=0)) for late in (ENDING, OVER)),
        Refusal("wrong-error", GOOD.with_step(OVER, error=KafkaError.CONCURRENT_TRANSACTIONS)),
        Refusal("unanswered", GOOD.with_step(OVER, error=None, answered=None)),
        Refusal("transaction-reopened", GOOD.with_step("kept", state="Ongoing")),
        Refusal("transaction-reopened", GOOD.with_step("kept", partitions=["P3"])),
        *(Refusal("late-record-appended", GOOD.with_log(p, log(data(7, 0, "late")))) for p in ("P3", "P5")),
        Refusal("producer-left-behind", GOOD.with_step("producers after abort", producers=[{"producer_id": 7}])),
    ),
    refuted_by=(
        Setting(key=VERIFICATION, value="false", anomaly="late-record-accepted"),
        Failpoint(rules=END_WITHOUT_BUMP, anomaly="late-record-appended"),
        Failpoint(rules=ADD_IN_THE_CURRENT_EPOCH, anomaly="transaction-reopened"),
        Setting(key=VERIFICATION, value="false", anomaly="producer-left-behind"),
    ),
    order=Order.HOLDS_LINKS,
    access=(Access.LINKS,),
)
