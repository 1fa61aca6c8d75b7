"""KIP890-IMPL-01: a new client sends no AddPartitionsToTxn; its first Produce adds the partition and appends.

Judged on both sides: the coordinator keeps the partition, the leader keeps the transaction open from that record on.
"""

from collections.abc import Iterator

from harness.base.json_value import Json
from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Refusal,
    Requirement,
    Source,
    accepted,
    agree,
    row,
)
from harness.contract.byteman.coordinator_rules import ADD_NOT_KEPT
from harness.contract.byteman.verification_rules import NEW_CLIENT_TAKEN_FOR_OLD
from harness.contract.doctored import commit, data, evidence, log, step
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """A fresh producer for each version writes at once, is looked at on both sides, and commits."""
    partition = lab.partition("P1")
    for version in lab.offered("Produce", (12, 13)):
        txn = lab.producer(protocol=2)
        txn.produce(partition, version=version, as_="first write")
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="transaction")
        lab.observer.producers(partition, as_="producers")
        txn.end(commit=True, as_="commit")


def check(seen: Evidence) -> Iterator[Observation]:
    """Accepted, kept by the coordinator, open on the leader from its own offset, and committed."""
    writes = seen.all("first write")
    for write, kept, leader in zip(writes, seen.all("transaction"), seen.all("producers"), strict=True):
        yield accepted(write, otherwise="implicit-add-refused")
        yield agree("the state", kept.fields.get("state"), "Ongoing", write, kept, otherwise="transaction-not-ongoing")
        yield agree("partitions", kept.fields.get("partitions"), ["P1"], write, kept, otherwise="partition-not-added")
        since = row(leader, "producers", producer_id=write.request["producer_id"]).get("current_txn_start_offset")
        yield agree("open since", since, write.number("base_offset"), leader, otherwise="not-open-on-leader")
    for end in seen.all("commit"):
        yield accepted(end, otherwise="commit-refused")
    truth, promised = seen.log(), tuple(write.request["values"] for write in writes)
    yield agree("committed values", tuple([value] for value in truth.committed), promised, otherwise="commit-not-shown")
    yield agree("LSO", truth.last_stable_offset, truth.high_watermark, otherwise="stuck-lso")


def _open(producer_id: int, since: int) -> Json:
    return {"producer_id": producer_id, "producer_epoch": 0, "current_txn_start_offset": since}


GOOD = evidence(
    step("first write", "Produce", 12, base_offset=0, request={"producer_id": 7, "values": ["a"]}),
    step("transaction", "DescribeTransactions", 0, state="Ongoing", partitions=["P1"]),
    step("producers", "DescribeProducers", 0, producers=[_open(7, 0)]),
    step("commit", "EndTxn", 5),
    logs={"P1": log(data(7, 0, "a"), commit(7, 1))},
)

REQUIREMENT = Requirement(
    id="KIP890-IMPL-01",
    level=Level.MUST,
    source=Source(890, "Implicitly Add Partitions to Transactions on Produce for New Clients (2)"),
    statement="The first Produce v12 or newer to a partition adds it to the transaction and is appended.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("implicit-add-refused", GOOD.with_step("first write", error=120)),
        Refusal("transaction-not-ongoing", GOOD.with_step("transaction", state="Empty")),
        Refusal("partition-not-added", GOOD.with_step("transaction", partitions=[])),
        Refusal("not-open-on-leader", GOOD.with_step("producers", producers=[_open(7, -1)])),
        Refusal("not-open-on-leader", GOOD.with_step("producers", producers=[])),
        Refusal("commit-refused", GOOD.with_step("commit", error=48)),
        Refusal("commit-not-shown", GOOD.with_log(committed=())),
        Refusal("stuck-lso", GOOD.with_log(last_stable_offset=0)),
    ),
    refuted_by=(
        Failpoint(rules=ADD_NOT_KEPT, anomaly="partition-not-added"),
        Failpoint(rules=NEW_CLIENT_TAKEN_FOR_OLD, anomaly="implicit-add-refused"),
    ),
)
