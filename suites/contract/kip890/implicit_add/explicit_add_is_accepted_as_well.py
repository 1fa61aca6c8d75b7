"""KIP890-IMPL-10: a partition that was added by AddPartitionsToTxn is written to by a new client's Produce as well.

KIP-890 spares new clients the request and forbids it to none; a client library may go over to the new Produce before it
stops adding. One partition of the transaction is added explicitly, one by its first write; a second add of either
changes nothing.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.coordinator_rules import ADD_NOT_KEPT
from harness.contract.byteman.verification_rules import NO_PARTITION_VERIFIED
from harness.contract.doctored import commit, data, described, ended, evidence, log, step, unsound, written
from harness.contract.refuters import Failpoint
from harness.lab import Lab

PARTITIONS = ("P1", "P2")


def stimulus(lab: Lab) -> None:
    """Added and written, written, both added again; looked at, and committed."""
    explicit, implicit = (lab.partition(alias) for alias in PARTITIONS)
    for version in lab.offered("Produce", (12, 13)):
        txn = lab.producer(protocol=2)
        txn.add(explicit, as_="add")
        txn.produce(explicit, version=version, as_="write")
        txn.produce(implicit, version=version, as_="write")
        txn.add(explicit, implicit, as_="add")
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="transaction")
        txn.end(commit=True, as_="commit")


def check(seen: Evidence) -> Observations:
    """All accepted, both partitions listed once, and the end bumps the epoch as for any new client."""
    for asked in (*seen.all("add"), *seen.all("write"), *seen.all("commit")):
        yield expect.accepted(asked, otherwise="explicit-add-breaks-it")
    for kept in seen.all("transaction"):
        yield expect.keeps(kept, state="Ongoing", partitions=PARTITIONS, otherwise="partition-not-added")
    for end in seen.all("commit"):
        own, epoch = end.request_int("producer_id"), end.request_int("producer_epoch")
        yield expect.identity(end, own, epoch + 1)
    for alias in PARTITIONS:
        writes = expect.writes(seen, alias, "write")
        markers = [("COMMIT",) for _ in writes]
        yield from expect.sound(seen, alias, [value for one in writes for value in one.written()], markers=markers)


GOOD = evidence(
    step("add", "AddPartitionsToTxn", 3),
    *(written("write", 12, "a", to=alias) for alias in PARTITIONS),
    described("transaction", "Ongoing", partitions=PARTITIONS),
    ended("commit"),
    logs={alias: log(data(7, 0, "a"), commit(7, 1)) for alias in PARTITIONS},
)
REFUSED = KafkaError.INVALID_TXN_STATE

REQUIREMENT = Requirement(
    id="KIP890-IMPL-10",
    source=Source(890, "Implicitly Add Partitions to Transactions on Produce for New Clients (2)"),
    statement="A partition that was added explicitly is written to by a new client's Produce as any other.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5), Offers("AddPartitionsToTxn", 3)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("explicit-add-breaks-it", GOOD.with_step(one, error=REFUSED)) for one in ("add", "write", "commit")),
        Refusal("partition-not-added", GOOD.with_step("transaction", partitions=["P2"])),
        Refusal("wrong-identity-returned", GOOD.with_step("commit", producer_epoch=0)),
        Refusal("wrong-markers", GOOD.with_log("P1", batches=GOOD.log("P1").batches[:1])),
        *unsound(GOOD, "P2"),
    ),
    refuted_by=(
        Failpoint(rules=ADD_NOT_KEPT, anomaly="explicit-add-breaks-it"),
        Failpoint(rules=NO_PARTITION_VERIFIED, anomaly="explicit-add-breaks-it"),
    ),
)
