"""KIP890-MARK-05: a marker of an older coordinator generation must not end what a newer one decides.

The operator writes in the place of two generations of the coordinator: a marker of the newer one, which the partition
keeps for the producer, then one of the older, then the newer one again as the counter-proof that nothing else was wrong
with the older. Both generations are far above that of the real coordinator, which has nothing more to say here: on a
fresh cluster its own is 0, and -1, the one before, is what KIP-664 reserves for operators.

KIP-664 relies on it that leaders take no non-monotonic generations of a producer; the code is Kafka's.
"""

from typing import Any

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.leader_rules import NO_COORDINATOR_EPOCH_CHECK
from harness.contract.doctored import abort, commit, data, evidence, log, producer_row, producers, step, unsound
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import NotSeen
from harness.lab import Lab

FENCED = KafkaError.TRANSACTION_COORDINATOR_FENCED
OLDER, NEWER = 1_000_000, 1_000_001
"""Leader epochs of ``__transaction_state`` that no cluster reaches."""


def stimulus(lab: Lab) -> None:
    """One transaction is committed; then markers of the newer generation, of the older, and of the newer again."""
    partition, txn = lab.partition("P1"), lab.producer()
    txn.write(partition)
    txn.end(commit=True)
    lab.reached(txn, "CompleteCommit", as_="first")
    marker: dict[str, Any] = {"producer_id": txn.producer_id, "epoch": txn.epoch}
    lab.write_marker(partition, **marker, commit=False, coordinator_epoch=NEWER, as_="newer marker")
    lab.observer.producers(partition, as_="known")
    lab.write_marker(partition, **marker, commit=True, coordinator_epoch=OLDER, as_="stale marker")
    lab.write_marker(partition, **marker, commit=False, coordinator_epoch=NEWER, as_="same generation")


def check(seen: Evidence) -> Observations:
    """Refused and not written, where the newer generation's marker is taken before and after it."""
    newer, stale = seen["newer marker"], seen["stale marker"]
    if newer.error != 0:
        raise NotSeen("no marker was taken from a newer generation, so that none was older")
    own = newer.request_int("producer_id")
    yield expect.habit(expect.producer(seen["known"], own, coordinator_epoch=NEWER, otherwise="generation-not-kept"))
    yield expect.refused(stale, FENCED, code=Level.SHOULD, otherwise="stale-marker-accepted")
    yield expect.accepted(seen["same generation"], otherwise="same-generation-refused")
    yield from expect.sound(seen, markers=(("COMMIT",), ("ABORT",), ("ABORT",)), shown="committed-record-lost")


_LOGGED = (data(7, 0, "a"), commit(7, 0), abort(7, 0, coordinator_epoch=NEWER))
GOOD = evidence(
    step("newer marker", "WriteTxnMarkers", 1, request={"producer_id": 7}),
    producers("known", producer_row(coordinator_epoch=NEWER)),
    step("stale marker", "WriteTxnMarkers", 1, error=FENCED, request={"producer_id": 7}),
    step("same generation", "WriteTxnMarkers", 1, request={"producer_id": 7}),
    logs={"P1": log(*_LOGGED, abort(7, 0, coordinator_epoch=NEWER))},
)

REQUIREMENT = Requirement(
    id="KIP890-MARK-05",
    source=Source(890, "Background: transaction markers and coordinator epochs"),
    statement="A marker with an older coordinator epoch than the partition knows for the producer is refused.",
    needs=(Offers("WriteTxnMarkers", 1),),
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("generation-not-kept", GOOD.with_step("known", producers=[])),
        Refusal("stale-marker-accepted", GOOD.with_step("stale marker", error=0)),
        Refusal("wrong-error", GOOD.with_step("stale marker", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("same-generation-refused", GOOD.with_step("same generation", error=FENCED)),
        Refusal("wrong-markers", GOOD.with_log(truth=log(*_LOGGED))),
        *unsound(GOOD, appended=None, shown="committed-record-lost"),
    ),
    refuted_by=(Failpoint(rules=NO_COORDINATOR_EPOCH_CHECK, anomaly="stale-marker-accepted"),),
)
