"""KIP890-FEAT-07: the version of the request chooses the protocol, not the finalized level of transaction.version.

The KIP lets the level gate the protocol, so a broker that refuses the new one at a lower level follows the KIP, and
this is a SHOULD. In Kafka only clients obey the level: a client that has not heard yet of a lowered one goes on with
the new protocol and is served. The level decides how the coordinator writes its records down. Tried at level 1, because
at level 0 Kafka cannot write down what the new protocol needs (suites/contract/FINDINGS.md); at level 0 the old
protocol is tried.
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
    expect,
)
from harness.contract.byteman.transaction_metadata_rules import END_TAKEN_AS_OF_THE_LEVEL, RECORDS_AS_OF_LEVEL_1
from harness.contract.byteman.verification_rules import CLIENT_WITHOUT_ABORTABLE_ERROR
from harness.contract.doctored import adopted, commit, log
from harness.contract.refuters import Failpoint, Liar
from harness.contract.requirement import Feature
from harness.evidence.requirement_evidence import NotSeen, Step
from harness.lab import Lab

FEATURE = "transaction.version"


def stimulus(lab: Lab) -> None:
    """At level 1: EndTxn v5 after a start in the old protocol, then all in the new one. At level 0: the old one."""
    with lab.admin.feature(FEATURE, 1):
        txn, added, implicit, group = lab.producer("victim"), lab.partition("P1"), lab.partition("P2"), lab.group()
        _ask_all(lab, as_="level 1")
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
        _ask_all(lab, as_="level 0")
        old.add(plain)
        old.produce(plain, as_="old write", version=11)
        old.end(commit=True, as_="old end", version=4)
        lab.reached(old, "CompleteCommit", as_="old transaction")
        lab.note("records_0", lab.observer.transaction_records(old.transactional_id, old.coordinator))


def _ask_all(lab: Lab, as_: str) -> None:
    for broker in lab.cluster.topology.brokers:
        lab.observer.advertised(broker, as_=as_)


def check(seen: Evidence) -> Observations:
    """Answers, epochs, partitions and markers as the request's version has them; records as the level has them."""
    own, first = seen["first end"].request_int("producer_id"), seen["first end"].request_int("producer_epoch")
    for name, epoch in (("first", first + 1), ("second", first + 2)):
        end, after = seen[f"{name} end"], seen[f"{name} transaction"]
        yield expect.accepted(end, otherwise="new-end-refused")
        yield expect.identity(end, own, epoch, otherwise="epoch-not-bumped")
        yield expect.keeps(after, producer_id=own, epoch=epoch, otherwise="epoch-not-stored")
    for name in ("implicit write", "implicit offset"):
        yield expect.accepted(seen[name], otherwise="implicit-write-refused")
    if seen["open transaction"].looked:
        opened = _partitions(seen["open transaction"])
        yield expect.agree("partitions of the transaction", opened, {"P2", "offsets"}, otherwise="partition-not-added")
    for name in ("old write", "old end"):
        yield expect.accepted(seen[name], otherwise="old-protocol-refused")
    old = seen["old end"].request_int("producer_epoch")
    for place, epoch in (("P1", first + 1), ("P2", first + 2), ("offsets", first + 2), ("P3", old)):
        yield expect.marks(seen, place, ("COMMIT", epoch), otherwise="wrong-marker")
    for level in (1, 0):
        versions = _record_versions(seen, level)
        yield expect.agree(f"records at level {level}", versions, {level}, otherwise="wrong-record-version")


def _partitions(described: Step) -> set[str]:
    listed = described.fields.get("partitions")
    return set(map(str, listed)) if isinstance(listed, list) else set()


def _record_versions(seen: Evidence, level: int) -> set[int]:
    """The versions of all records about the id; :raises NotSeen: when there are none or the level was another."""
    for answer in seen.all(f"level {level}"):
        finalized = answer.fields.get("finalized_features")
        if not isinstance(finalized, dict) or finalized.get(FEATURE, 0) != level:
            raise NotSeen(f"{FEATURE} was not at level {level} on broker {answer.node}")
    records = seen.fact(f"records_{level}")
    if not isinstance(records, list) or not records:
        raise NotSeen("no record of the transactional id was found")
    return {int(str(record["version"])) for record in records if isinstance(record, dict)}


GOOD = adopted(__file__, "KIP890-FEAT-07")
_WRONG_EPOCHS = (("P1", 0), ("P2", 1), ("offsets", 1), ("P3", 1))
"""Epochs that the markers on these partitions must not have."""

REQUIREMENT = Requirement(
    id="KIP890-FEAT-07",
    source=Source(890, "New Clients / New Servers"),
    statement="The broker chooses the transaction protocol by the request's version, not by the finalized level.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12), Offers("UpdateFeatures", 1), Feature(FEATURE, 2)),
    level=Level.SHOULD,
    order=Order.CHANGES_SETTINGS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("new-end-refused", GOOD.with_step("first end", error=KafkaError.UNSUPPORTED_VERSION)),
        Refusal("epoch-not-bumped", GOOD.with_step("second end", producer_epoch=1)),
        Refusal("epoch-not-stored", GOOD.with_step("first transaction", producer_epoch=0)),
        Refusal("implicit-write-refused", GOOD.with_step("implicit write", error=KafkaError.TRANSACTION_ABORTABLE)),
        Refusal("implicit-write-refused", GOOD.with_step("implicit offset", error=KafkaError.TRANSACTION_ABORTABLE)),
        Refusal("partition-not-added", GOOD.with_step("open transaction", partitions=["P2"])),
        Refusal("old-protocol-refused", GOOD.with_step("old end", error=KafkaError.UNSUPPORTED_VERSION)),
        *(Refusal("wrong-marker", GOOD.with_log(place, log(commit(7, epoch)))) for place, epoch in _WRONG_EPOCHS),
        Refusal("wrong-record-version", GOOD.with_fact("records_1", [{"version": 1}, {"version": 0}])),
        Refusal("wrong-record-version", GOOD.with_fact("records_0", [{"version": 1}])),
    ),
    refuted_by=(
        Failpoint(rules=END_TAKEN_AS_OF_THE_LEVEL, anomaly="epoch-not-bumped"),
        Failpoint(rules=CLIENT_WITHOUT_ABORTABLE_ERROR, anomaly="implicit-write-refused"),
        Failpoint(rules=RECORDS_AS_OF_LEVEL_1, anomaly="wrong-record-version"),
        Liar(
            api="EndTxn", versions=(5, 5), instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="new-end-refused"
        ),
        Liar(api="DescribeTransactions", shift={"producer_epoch": 1}, anomaly="epoch-not-stored"),
    ),
)
