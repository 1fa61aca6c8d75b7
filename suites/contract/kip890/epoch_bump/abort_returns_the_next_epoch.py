"""KIP890-BUMP-02: an abort bumps the epoch as a commit does, and from the prepare record on.

The KIP promises the returned epoch, that the producer goes on with it, and the bumped epoch in the record and in the
marker. Where a link from the coordinator to the leader can be held, the transaction is also looked at while it is being
aborted; that this state is called ``PrepareAbort`` is Kafka's habit. Another producer's transaction is open on the same
partition from before the first abort until after the second, and commits.
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
from harness.contract.byteman.transaction_metadata_rules import ABORT_WITHOUT_BUMP, ABORTED_KEEPS_THE_LAST_EPOCH
from harness.contract.doctored import abort, commit, data, described, ended, evidence, log, sample, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab, Partition, Producer


def stimulus(lab: Lab) -> None:
    """Write, abort (where possible while the marker is held), look; then write and abort in the returned epoch."""
    txn, partition, other = lab.producer(protocol=2), lab.partition("P1"), lab.producer("rival", protocol=2)
    other.produce(partition, as_="other write")
    txn.write(partition)
    _abort(lab, txn, partition)
    lab.reached(txn, "CompleteAbort", as_="kept")
    txn.produce(partition, as_="next write")
    txn.end(commit=False)
    lab.reached(txn, "CompleteAbort", as_="next kept")
    other.end(commit=True, as_="other commit")


def _abort(lab: Lab, txn: Producer, partition: Partition) -> None:
    if (txn.coordinator, partition.leader) not in lab.cluster.topology.links:
        txn.end(commit=False, as_="abort")
        return
    with lab.preparing(txn, partition, commit=False, as_="abort"):
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept while held")


def check(seen: Evidence) -> Observations:
    """The abort returns the next epoch, which is kept while it is prepared and afterwards; nothing is shown."""
    end, kept = seen["abort"], seen["kept"]
    own, bumped = end.request_int("producer_id"), end.request_int("producer_epoch") + 1
    yield expect.accepted(end, otherwise="abort-refused")
    yield expect.shows(end, producer_id=own, otherwise="wrong-producer-id")
    yield expect.shows(end, producer_epoch=bumped, otherwise="epoch-not-bumped")
    for held in expect.taken(seen, "kept while held"):
        expect.prepared(seen, "markers", end=end)
        yield expect.habit(expect.keeps(held, state="PrepareAbort", otherwise="wrong-state"))
        yield expect.keeps(held, producer_id=own, epoch=bumped, otherwise="another-identity-kept")
    yield expect.over(kept)
    yield expect.keeps(kept, producer_id=own, epoch=bumped, otherwise="another-identity-kept")
    yield expect.accepted(seen["next write"], otherwise="returned-epoch-refused")
    rows = [(marker.control, marker.producer_epoch) for marker in seen.log().markers() if marker.producer_id == own]
    yield expect.agree("own markers", rows, [("ABORT", bumped), ("ABORT", bumped + 1)], otherwise="wrong-marker")
    yield expect.accepted(seen["other commit"], otherwise="other-commit-refused")
    yield from expect.sound(seen, committed=seen["other write"].written(), shown="aborted-record-shown")


_LOGGED = (data(8, 0, "c"), data(7, 0, "a"), abort(7, 1), data(7, 1, "b"))
GOOD = evidence(
    ended("abort", committed=False),
    described("kept while held", "PrepareAbort", epoch=1),
    described("kept", "CompleteAbort", epoch=1),
    written("next write", 12, "b"),
    written("other write", 12, "c", producer_id=8),
    ended("other commit", producer_id=8),
    logs={"P1": log(*_LOGGED, abort(7, 2), commit(8, 1))},
    samples=(sample("markers", "P1", 2, 0),),
    held=("markers",),
)

REQUIREMENT = Requirement(
    id="KIP890-BUMP-02",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="An abort with EndTxn v5 returns the same producer id and the next epoch, kept from PrepareAbort on.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, GOOD.without_step("kept while held")),
    refuses=(
        Refusal("abort-refused", GOOD.with_step("abort", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("wrong-producer-id", GOOD.with_step("abort", producer_id=-1)),
        Refusal("epoch-not-bumped", GOOD.with_step("abort", producer_epoch=0)),
        Refusal("wrong-state", GOOD.with_step("kept while held", state="Ongoing")),
        Refusal("transaction-not-over", GOOD.with_step("kept", state="PrepareAbort")),
        Refusal("another-identity-kept", GOOD.with_step("kept while held", producer_epoch=0)),
        Refusal("another-identity-kept", GOOD.with_step("kept", producer_epoch=0)),
        Refusal("returned-epoch-refused", GOOD.with_step("next write", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("wrong-marker", GOOD.with_log("P1", log(*_LOGGED, abort(7, 1), commit(8, 1)))),
        Refusal("other-commit-refused", GOOD.with_step("other commit", error=KafkaError.INVALID_TXN_STATE)),
        *unsound(GOOD, appended=None, shown="aborted-record-shown"),
    ),
    refuted_by=(
        Failpoint(rules=ABORT_WITHOUT_BUMP, anomaly="epoch-not-bumped"),
        Failpoint(rules=ABORTED_KEEPS_THE_LAST_EPOCH, anomaly="another-identity-kept"),
        Liar(api="EndTxn", skip=2, instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="other-commit-refused"),
        Liar(api="EndTxn", error=KafkaError.INVALID_TXN_STATE, at_most=1, anomaly="abort-refused"),
    ),
    order=Order.HOLDS_LINKS,
    access=(Access.LINKS,),
)
