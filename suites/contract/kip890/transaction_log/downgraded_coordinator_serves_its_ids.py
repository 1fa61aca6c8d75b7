"""KIP890-LOG-02: after the level is lowered and brokers are downgraded, coordinators serve what they kept before.

The records of level 2 are flexible; the KIP promises that a broker without the new code ignores their tagged fields
(KIP-915 taught releases from 3.5 on to do so). Here brokers go from the judged release to 3.9.2, one by one, each with
its data. One id has committed and one has an open transaction: both are kept as they were, the open one can be
committed and the other be initialised. What the older release then writes is in version 0, which is Kafka's habit.
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
    expect,
)
from harness.contract.byteman.transaction_metadata_rules import COMPLETED_IDS_ARE_NOT_KEPT
from harness.contract.checks.feature_checks import FEATURE
from harness.contract.checks.timing import in_time
from harness.contract.doctored import commit, data, described, ended, evidence, log, step, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.contract.requirement import Feature
from harness.evidence.requirement_evidence import NotSeen
from harness.lab import Lab
from harness.lab.producer import Producer
from suites.contract.wishes import LEVEL_0_AT_39

OLD = "3.9.2"
TIMEOUT_MS = 600_000
"""Of the transaction that stays open while three brokers end and start, one by one, on however busy a machine."""
KEPT = ("state", "producer_id", "producer_epoch", "partitions")


def stimulus(lab: Lab) -> None:
    """A committed and an open transaction at level 2; level 0; every broker runs the older release."""
    with lab.admin.keeping(FEATURE):
        lab.levels.ask(FEATURE, 2)
        lab.levels.shown(FEATURE, 2, as_="before")
        done = lab.producer("rival", protocol=2)
        left = lab.producer("victim", protocol=2, timeout_ms=TIMEOUT_MS)
        first, second = lab.partition("P1"), lab.partition("P2")
        done.produce(first, as_="done write")
        done.end(commit=True, as_="done end")
        lab.reached(done, "CompleteCommit", as_="done before")
        left.produce(second, as_="left write")
        _look(lab, left, "left before")
        lab.note("records_before", lab.observer.transaction_records(done.transactional_id, done.coordinator))
    for broker in lab.cluster.topology.brokers:
        lab.releases.run(broker, OLD)
    for txn, name in ((done, "done"), (left, "left")):
        _look(lab, txn, f"{name} after")
    left.end(commit=True, version=3, as_="left end")
    lab.reached(left, "CompleteCommit", as_="left over")
    done.init(as_="done init")
    lab.note("records_after", lab.observer.transaction_records(left.transactional_id, left.coordinator)[-1:])


def _look(lab: Lab, txn: Producer, name: str) -> None:
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_=name)


def check(seen: Evidence) -> Observations:
    """Nothing was forgotten or changed by the downgrade, and both ids go on."""
    if 1 not in _versions(seen, "records_before"):
        raise NotSeen("the coordinator wrote no flexible records before the downgrade")
    in_time(seen["left write"], seen["left end"], timeout_ms=TIMEOUT_MS)
    for txn in ("done", "left"):
        yield expect.unchanged(seen[f"{txn} before"], seen[f"{txn} after"], *KEPT, otherwise="changed-by-downgrade")
    for name in ("left end", "done init"):
        yield expect.accepted(seen[name], otherwise="not-served")
    before, init = seen["done end"], seen["done init"]
    own, bumped = before.answer_int("producer_id"), before.answer_int("producer_epoch") + 1
    yield expect.identity(init, own, bumped, otherwise="another-identity")
    yield expect.over(seen["left over"])
    yield from expect.sound(seen, "P1", seen["done write"].written(), markers=(("COMMIT",),))
    yield from expect.sound(seen, "P2", seen["left write"].written(), markers=(("COMMIT",),))
    after = _versions(seen, "records_after")
    yield expect.habit(expect.agree("version of new records", after, {0}, otherwise="wrong-record-version"))


def _versions(seen: Evidence, name: str) -> set[int]:
    records = seen.fact(name)
    if not isinstance(records, list) or not records:
        raise NotSeen(f"{name}: there are none")
    return {int(str(record["version"])) for record in records if isinstance(record, dict)}


GOOD = evidence(
    written("done write", 12, "a"),
    ended("done end"),
    described("done before", "CompleteCommit", epoch=1),
    written("left write", 12, "b", to="P2"),
    described("left before", "Ongoing", partitions=("P2",)),
    described("done after", "CompleteCommit", epoch=1),
    described("left after", "Ongoing", partitions=("P2",)),
    ended("left end", version=3),
    described("left over", "CompleteCommit"),
    step("done init", "InitProducerId", 4, producer_id=7, producer_epoch=2),
    logs={"P1": log(data(7, 0, "a"), commit(7, 1)), "P2": log(data(8, 0, "b"), commit(8, 0))},
    records_before=[{"version": 1}],
    records_after=[{"version": 0}],
)

REQUIREMENT = Requirement(
    id="KIP890-LOG-02",
    source=Source(890, "Old Servers"),
    statement="After a downgrade coordinators load flexible records and serve the ids.",
    needs=(Offers("UpdateFeatures", 1), Offers("EndTxn", 5), Offers("Produce", 12), Feature(FEATURE, 2)),
    order=Order.HURTS_CLUSTER,
    access=(Access.CHANGES, Access.NODES),
    cluster=LEVEL_0_AT_39,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("changed-by-downgrade", GOOD.with_step("done after", producer_epoch=0)),
        Refusal("changed-by-downgrade", GOOD.with_step("left after", state="Empty")),
        Refusal("not-served", GOOD.with_step("left end", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("not-served", GOOD.with_step("done init", error=KafkaError.COORDINATOR_LOAD_IN_PROGRESS)),
        Refusal("another-identity", GOOD.with_step("done init", producer_id=9)),
        Refusal("transaction-not-over", GOOD.with_step("left over", state="PrepareCommit")),
        *unsound(GOOD, "P1"),
        *unsound(GOOD, "P2"),
        Refusal("wrong-markers", GOOD.with_log("P1", log(data(7, 0, "a"), commit(7, 1), commit(7, 1)))),
        Refusal("wrong-markers", GOOD.with_log("P2", log(data(8, 0, "b"), commit(8, 0), commit(8, 0)))),
        Refusal("wrong-record-version", GOOD.with_fact("records_after", [{"version": 1}])),
    ),
    refuted_by=(
        Failpoint(rules=COMPLETED_IDS_ARE_NOT_KEPT, anomaly="changed-by-downgrade"),
        Liar(api="EndTxn", versions=(3, 3), instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="not-served"),
    ),
)
