"""KIP890-FEAT-07: the version of the request chooses the protocol, not the finalized level of transaction.version.

The KIP lets the level gate the protocol. In Kafka only clients obey it: a client that has not heard yet of a lowered
level goes on with the new protocol, and must be served. The level decides how the coordinator writes its records down.
Tried at level 1, because at level 0 Kafka cannot write down what the new protocol needs (suites/contract/FINDINGS.md);
at level 0 the old protocol is tried.
"""

from collections.abc import Iterator

from harness.contract import (
    Failpoint,
    Feature,
    Level,
    Observation,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    accepted,
    agree,
    shows,
)
from harness.contract.byteman.transaction_metadata_rules import END_TAKEN_AS_OF_THE_LEVEL, RECORDS_AS_OF_LEVEL_1
from harness.contract.byteman.verification_rules import CLIENT_WITHOUT_ABORTABLE_ERROR
from harness.contract.doctored import commit, data, evidence, log, step
from harness.evidence.requirement_evidence import Evidence, NotSeen, Step
from harness.lab import Lab

FEATURE = "transaction.version"


def stimulus(lab: Lab) -> None:
    """At level 1: EndTxn v5 after a start in the old protocol, then all in the new one. At level 0: the old one."""
    with lab.admin.feature(FEATURE, 1):
        txn, added, implicit, group = lab.producer("victim"), lab.partition("P1"), lab.partition("P2"), lab.group()
        seen_by_all(lab, "level 1")
        txn.add(added)
        txn.produce(added, version=11)
        txn.end(commit=True, version=5, as_="first end")
        lab.reached(txn, "CompleteCommit", as_="first transaction")
        txn.produce(implicit, as_="implicit write", version=12)
        txn.commit_offset(group, implicit, 1, as_="implicit offset", version=5)
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="open transaction")
        txn.end(commit=True, version=5, as_="second end")
        lab.reached(txn, "CompleteCommit", as_="second transaction")
        lab.note("records_1", lab.observer.transaction_records(txn.transactional_id, txn.coordinator))
    with lab.admin.feature(FEATURE, 0):
        old, plain = lab.producer("rival"), lab.partition("P3")
        seen_by_all(lab, "level 0")
        old.add(plain)
        old.produce(plain, as_="old write", version=11)
        old.end(commit=True, as_="old end", version=4)
        lab.reached(old, "CompleteCommit", as_="old transaction")
        lab.note("records_0", lab.observer.transaction_records(old.transactional_id, old.coordinator))


def seen_by_all(lab: Lab, name: str) -> None:
    """What every broker says of the level."""
    for broker in lab.cluster.topology.brokers:
        lab.observer.advertised(broker, as_=name)


def check(seen: Evidence) -> Iterator[Observation]:
    """Answers, epochs, partitions and markers as the request's version has them; records as the level has them."""
    own, first = seen["first end"].asked("producer_id"), seen["first end"].asked("producer_epoch")
    for name, epoch in (("first", first + 1), ("second", first + 2)):
        end, after = seen[f"{name} end"], seen[f"{name} transaction"]
        yield accepted(end, otherwise="new-end-refused")
        yield shows(end, producer_id=own, producer_epoch=epoch, otherwise="epoch-not-bumped")
        yield shows(after, producer_id=own, producer_epoch=epoch, otherwise="epoch-not-stored")
    for write in (seen["implicit write"], seen["implicit offset"]):
        yield accepted(write, otherwise="implicit-write-refused")
    opened = places(seen["open transaction"])
    yield agree("partitions of the transaction", opened, {"P2", "offsets"}, otherwise="partition-not-added")
    old = seen["old end"].asked("producer_epoch")
    for step_ in (seen["old write"], seen["old end"]):
        yield accepted(step_, otherwise="old-protocol-refused")
    for place, epoch in (("P1", first + 1), ("P2", first + 2), ("offsets", first + 2), ("P3", old)):
        yield agree(f"marker on {place}", seen.log(place).marks(), (("COMMIT", epoch),), otherwise="wrong-marker")
    for level in (1, 0):
        yield agree(f"records at level {level}", layouts(seen, level), {level}, otherwise="wrong-record-version")


def places(described: Step) -> set[str]:
    """The partitions that the coordinator lists."""
    listed = described.fields.get("partitions")
    return set(map(str, listed)) if isinstance(listed, list) else set()


def layouts(seen: Evidence, level: int) -> set[int]:
    """The versions of all records about the id; :raises NotSeen: when there are none or the level was another."""
    for answer in seen.all(f"level {level}"):
        finalized = answer.fields.get("finalized_features")
        if not isinstance(finalized, dict) or finalized.get(FEATURE, 0) != level:
            raise NotSeen(f"{FEATURE} was not at level {level} on broker {answer.node}")
    records = seen.fact(f"records_{level}")
    if not isinstance(records, list) or not records:
        raise NotSeen("no record of the transactional id was found")
    return {int(str(record["version"])) for record in records if isinstance(record, dict)}


GOOD = evidence(
    step("level 1", "ApiVersions", 4, finalized_features={FEATURE: 1}),
    step("first end", "EndTxn", 5, request={"producer_id": 7, "producer_epoch": 0}, producer_id=7, producer_epoch=1),
    step("first transaction", "DescribeTransactions", 0, producer_id=7, producer_epoch=1),
    step("implicit write", "Produce", 12),
    step("implicit offset", "TxnOffsetCommit", 5),
    step("open transaction", "DescribeTransactions", 0, partitions=["offsets", "P2"]),
    step("second end", "EndTxn", 5, request={"producer_id": 7, "producer_epoch": 1}, producer_id=7, producer_epoch=2),
    step("second transaction", "DescribeTransactions", 0, producer_id=7, producer_epoch=2),
    step("level 0", "ApiVersions", 4, finalized_features={}),
    step("old write", "Produce", 11),
    step("old end", "EndTxn", 4, request={"producer_id": 8, "producer_epoch": 0}),
    logs={
        "P1": log(data(7, 0, "a"), commit(7, 1)),
        "P2": log(data(7, 1, "b"), commit(7, 2)),
        "offsets": log(data(7, 1, "1"), commit(7, 2)),
        "P3": log(data(8, 0, "c"), commit(8, 0)),
    },
    records_1=[{"version": 1}],
    records_0=[{"version": 0}],
)

REQUIREMENT = Requirement(
    id="KIP890-FEAT-07",
    level=Level.MUST,
    source=Source(890, "New Clients / New Servers"),
    statement="The broker chooses the transaction protocol by the request's version, not by the finalized level.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12), Offers("UpdateFeatures", 1), Feature(FEATURE, 2)),
    order=Order.CHANGES_SETTINGS,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("new-end-refused", GOOD.with_step("first end", error=35)),
        Refusal("epoch-not-bumped", GOOD.with_step("second end", producer_epoch=1)),
        Refusal("epoch-not-stored", GOOD.with_step("first transaction", producer_epoch=0)),
        Refusal("implicit-write-refused", GOOD.with_step("implicit write", error=120)),
        Refusal("implicit-write-refused", GOOD.with_step("implicit offset", error=120)),
        Refusal("partition-not-added", GOOD.with_step("open transaction", partitions=["P2"])),
        Refusal("wrong-marker", GOOD.with_log("P1", log(data(7, 0, "a"), commit(7, 0)))),
        Refusal("wrong-marker", GOOD.with_log("offsets", log(data(7, 1, "1"), commit(7, 1)))),
        Refusal("old-protocol-refused", GOOD.with_step("old end", error=35)),
        Refusal("wrong-marker", GOOD.with_log("P3", log(data(8, 0, "c"), commit(8, 1)))),
        Refusal("wrong-record-version", GOOD.with_fact("records_1", [{"version": 1}, {"version": 0}])),
        Refusal("wrong-record-version", GOOD.with_fact("records_0", [{"version": 1}])),
    ),
    refuted_by=(
        Failpoint(rules=END_TAKEN_AS_OF_THE_LEVEL, anomaly="epoch-not-bumped"),
        Failpoint(rules=CLIENT_WITHOUT_ABORTABLE_ERROR, anomaly="implicit-write-refused"),
        Failpoint(rules=RECORDS_AS_OF_LEVEL_1, anomaly="wrong-record-version"),
    ),
)
