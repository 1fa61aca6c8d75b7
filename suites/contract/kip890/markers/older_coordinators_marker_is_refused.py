"""KIP890-MARK-05: a marker of an older coordinator generation must not end a transaction of the present one.

The stale marker comes while the producer's next transaction is open on the partition, which it would abort. It is sent
by the operator, one coordinator epoch below the one that the partition keeps; a marker of that very epoch is the
counter-proof that nothing else was wrong with it.
"""

from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import NO_COORDINATOR_EPOCH_CHECK
from harness.contract.doctored import abort, commit, data, ended, evidence, known_producer, log, sample, step, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab

FENCED = KafkaError.TRANSACTION_COORDINATOR_FENCED


def stimulus(lab: Lab) -> None:
    """One transaction committed, the next one open; the stale marker; commit; then a marker of the kept generation."""
    partition, txn = lab.partition("P1"), lab.producer()
    txn.write(partition)
    txn.end(commit=True)
    lab.reached(txn, "CompleteCommit", as_="first")
    known = lab.observer.producers(partition, as_="known")
    kept = int(str(expect.row(known, "producers", producer_id=txn.producer_id).get("coordinator_epoch", 0)))
    txn.write(partition)
    marker = {"producer_id": txn.producer_id, "epoch": txn.epoch}
    lab.write_marker(partition, **marker, commit=False, coordinator_epoch=kept - 1, as_="stale marker")
    lab.sample("after the stale marker", partition)
    txn.end(commit=True, as_="commit")
    lab.reached(txn, "CompleteCommit", as_="second")
    lab.write_marker(partition, **marker, commit=False, coordinator_epoch=kept, as_="same generation")


def check(seen: Evidence) -> Observations:
    """Refused, the open transaction untouched, its own marker taken; and the control taken too."""
    stale, control, own = seen["stale marker"], seen["same generation"], seen["stale marker"].request_int("producer_id")
    kept = control.request_int("coordinator_epoch")
    yield expect.producer(seen["known"], own, coordinator_epoch=kept, otherwise="generation-not-kept")
    yield expect.refused(stale, FENCED, otherwise="stale-marker-accepted")
    yield expect.unstable(seen.sample("after the stale marker"), stale, otherwise="ended-by-stale-marker")
    yield expect.accepted(seen["commit"], otherwise="commit-refused")
    yield expect.accepted(control, otherwise="same-generation-refused")
    yield from expect.sound(seen, markers=(("COMMIT",), ("COMMIT",), ("ABORT",)), shown="committed-record-lost")


_LOGGED = (data(7, 0, "a"), commit(7, 0), data(7, 0, "b"), commit(7, 0))
GOOD = evidence(
    known_producer("known"),
    step("stale marker", "WriteTxnMarkers", 1, error=FENCED, request={"producer_id": 7, "coordinator_epoch": -1}),
    ended("commit", version=4),
    step("same generation", "WriteTxnMarkers", 1, request={"producer_id": 7, "coordinator_epoch": 0}),
    samples=(sample("after the stale marker", "P1", 3, 2),),
    logs={"P1": log(*_LOGGED, abort(7, 0))},
)

REQUIREMENT = Requirement(
    id="KIP890-MARK-05",
    source=Source(890, "Background: transaction markers and coordinator epochs"),
    statement="A marker with an older coordinator epoch than the partition knows for the producer is refused.",
    needs=(Offers("WriteTxnMarkers", 1), Offers("DescribeProducers", 0)),
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("generation-not-kept", GOOD.with_step("known", producers=[])),
        Refusal("stale-marker-accepted", GOOD.with_step("stale marker", error=0)),
        Refusal("wrong-error", GOOD.with_step("stale marker", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("ended-by-stale-marker", GOOD.with_sample("after the stale marker", last_stable_offset=3)),
        Refusal("commit-refused", GOOD.with_step("commit", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("same-generation-refused", GOOD.with_step("same generation", error=FENCED)),
        Refusal("wrong-markers", GOOD.with_log(truth=log(*_LOGGED))),
        *unsound(GOOD, appended=None, shown="committed-record-lost"),
    ),
    refuted_by=(Failpoint(rules=NO_COORDINATOR_EPOCH_CHECK, anomaly="stale-marker-accepted"),),
)
