"""KIP890-MARK-05: a marker of an older coordinator generation must not end a transaction of the present one.

The stale marker comes while the producer's next transaction is open on the partition, which it would abort. It is sent
by the operator, one coordinator epoch below the one that the partition keeps; a marker of that very epoch is the
counter-proof that nothing else was wrong with it.
"""

from collections.abc import Iterator

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
    refused,
    row,
    unless,
)
from harness.contract.byteman.leader_rules import NO_COORDINATOR_EPOCH_CHECK
from harness.contract.doctored import abort, commit, data, evidence, log, sample, step
from harness.evidence.requirement_evidence import Evidence, Step
from harness.lab import Lab, Partition, Producer

COORDINATOR_FENCED = 52


def stimulus(lab: Lab) -> None:
    """One transaction committed, the next one open; the stale marker; commit; then a marker of the kept generation."""
    partition, txn = lab.partition("P1"), lab.producer()
    txn.write(partition)
    txn.end(commit=True)
    lab.reached(txn, "CompleteCommit", as_="first")
    kept = _generation(lab.observer.producers(partition, as_="known"), txn.producer_id)
    txn.write(partition)
    _abort(lab, txn, partition, kept - 1, as_="stale marker")
    lab.sample("after the stale marker", partition)
    txn.end(commit=True, as_="commit")
    lab.reached(txn, "CompleteCommit", as_="second")
    _abort(lab, txn, partition, kept, as_="same generation")


def _abort(lab: Lab, txn: Producer, partition: Partition, generation: int, *, as_: str) -> None:
    lab.admin.write_marker(
        partition, producer_id=txn.producer_id, epoch=txn.epoch, commit=False, coordinator_epoch=generation, as_=as_
    )


def _generation(known: Step, producer_id: int) -> int:
    kept = row(known, "producers", producer_id=producer_id).get("coordinator_epoch")
    return kept if isinstance(kept, int) else 0


def check(seen: Evidence) -> Iterator[Observation]:
    """Refused, the open transaction untouched, its own marker taken; and the control taken too."""
    stale, control, commit_ = seen["stale marker"], seen["same generation"], seen["commit"]
    known = row(seen["known"], "producers", producer_id=stale.request["producer_id"]).get("coordinator_epoch")
    yield agree("the kept generation", known, control.request["coordinator_epoch"], otherwise="generation-not-kept")
    yield refused(stale, COORDINATOR_FENCED, otherwise="stale-marker-accepted")
    open_ = seen.sample("after the stale marker")
    still = open_.last_stable_offset < open_.high_watermark
    yield unless(still, "the transaction is open after the stale marker", stale, otherwise="ended-by-stale-marker")
    yield accepted(commit_, otherwise="commit-refused")
    yield accepted(control, otherwise="same-generation-refused")
    markers = [marker.control for marker in seen.log().markers()]
    yield agree("markers", markers, ["COMMIT", "COMMIT", "ABORT"], stale, control, otherwise="wrong-markers")
    yield agree("committed values", seen.log().committed, seen.log().values(), stale, otherwise="committed-record-lost")
    yield agree("LSO", seen.log().last_stable_offset, seen.log().high_watermark, otherwise="stuck-lso")


GOOD = evidence(
    step("known", "DescribeProducers", 0, producers=[{"producer_id": 7, "coordinator_epoch": 0}]),
    step("stale marker", "WriteTxnMarkers", 1, error=52, request={"producer_id": 7, "coordinator_epoch": -1}),
    step("commit", "EndTxn", 4),
    step("same generation", "WriteTxnMarkers", 1, request={"producer_id": 7, "coordinator_epoch": 0}),
    samples=(sample("after the stale marker", "P1", 3, 2),),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0), data(7, 0, "b"), commit(7, 0), abort(7, 0))},
)

REQUIREMENT = Requirement(
    id="KIP890-MARK-05",
    level=Level.MUST,
    source=Source(890, "Background: transaction markers and coordinator epochs"),
    statement="A marker with an older coordinator epoch than the partition knows for the producer is refused.",
    needs=(Offers("WriteTxnMarkers", 1), Offers("DescribeProducers", 0)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("generation-not-kept", GOOD.with_step("known", producers=[])),
        Refusal("stale-marker-accepted", GOOD.with_step("stale marker", error=0)),
        Refusal("wrong-error", GOOD.with_step("stale marker", error=47)),
        Refusal("ended-by-stale-marker", GOOD.with_sample("after the stale marker", last_stable_offset=3)),
        Refusal("commit-refused", GOOD.with_step("commit", error=48)),
        Refusal("same-generation-refused", GOOD.with_step("same generation", error=52)),
        Refusal(
            "wrong-markers",
            GOOD.with_log(truth=log(data(7, 0, "a"), commit(7, 0), data(7, 0, "b"), commit(7, 0))),
        ),
        Refusal("committed-record-lost", GOOD.with_log(committed=("a",))),
        Refusal("stuck-lso", GOOD.with_log(last_stable_offset=2)),
    ),
    refuted_by=(Failpoint(rules=NO_COORDINATOR_EPOCH_CHECK, anomaly="stale-marker-accepted"),),
)
