"""KIP360-INIT-04: a producer that comes back without an identity ends what it left open, and nobody before it goes on.

The KIP promises the current producer id with a bumped epoch; the open transaction is aborted and its old owner fenced.
In Kafka the first InitProducerId is refused with the retriable CONCURRENT_TRANSACTIONS while the coordinator aborts one
epoch up; repeated, it returns the epoch after that. These codes and steps are its habit: who aborts at once and answers
at once keeps the promise too. Tried on v2 (no identity fields) and on the newest.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.marker_rules import MARKERS_COMMIT
from harness.contract.byteman.transaction_metadata_rules import COORDINATORS_ABORT_BUMPS_TWICE
from harness.contract.doctored import abort, commit, data, described, ended, evidence, log, step, unsound
from harness.contract.refuters import Failpoint, Liar, Release
from harness.contract.version_tables import fenced
from harness.lab import Lab

CONCURRENT = KafkaError.CONCURRENT_TRANSACTIONS


def stimulus(lab: Lab) -> None:
    """A transaction is left open; its id is initialised as after a restart, once, and then until it succeeds."""
    partition = lab.partition("P1")
    for version in lab.offered("InitProducerId", (2, 4, 5)):
        txn = lab.producer()
        txn.write(partition)
        txn.init(version=version, retry=(), adopt=False, as_="first init")
        lab.reached(txn, "CompleteAbort", "Empty", as_="aborted")
        txn.init(version=version, retry=(CONCURRENT,), adopt=False, as_="init")
        txn.end(commit=True, as_="old owner's commit")


def check(seen: Evidence) -> Observations:
    """Aborted under a bumped epoch, initialised with a bumped one for the same producer id; the old epoch is fenced."""
    ends, inits = seen.all("old owner's commit"), seen.all("init")
    for first, aborted in zip(seen.all("first init"), seen.all("aborted"), strict=True):
        yield expect.habit(expect.refused(first, CONCURRENT, otherwise="open-transaction-passed-over"))
        yield expect.over(aborted)
        yield expect.habit(expect.keeps(aborted, epoch=1, otherwise="wrong-stored-state"))
    for init, end in zip(inits, ends, strict=True):
        own, old = end.request_int("producer_id"), end.request_int("producer_epoch")
        bumped, stale = init.answer_int("producer_epoch"), fenced("EndTxn", end.version)
        twice = expect.agree("returned epoch", bumped, old + 2, init, otherwise="wrong-returned-epoch")
        yield expect.accepted(init, otherwise="init-never-succeeds")
        yield expect.shows(init, producer_id=own, otherwise="another-producer-id")
        yield expect.habit(twice) if bumped > old else twice
        yield expect.refused(end, stale, code=Level.SHOULD, otherwise="old-owner-not-fenced")
    markers = tuple(("ABORT",) for _ in inits)
    yield from expect.sound(seen, committed=(), markers=markers, shown="aborted-record-shown")
    epochs = {marker.producer_epoch for marker in seen.log().markers()}
    yield expect.habit(expect.agree("epochs of the markers", epochs, {1}, otherwise="wrong-marker-epoch"))


GOOD = evidence(
    step("first init", "InitProducerId", 4, error=CONCURRENT),
    described("aborted", "CompleteAbort", epoch=1),
    step("init", "InitProducerId", 4, producer_id=7, producer_epoch=2),
    ended("old owner's commit", version=4, error=KafkaError.PRODUCER_FENCED),
    logs={"P1": log(data(7, 0, "a"), abort(7, 1))},
)

REQUIREMENT = Requirement(
    id="KIP360-INIT-04",
    source=Source(360, "Proposed Changes, 1: no producer id and epoch provided"),
    statement="Without identity, an open transaction is aborted under a bumped epoch, and the caller told to retry.",
    needs=(Offers("InitProducerId", 2),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("open-transaction-passed-over", GOOD.with_step("first init", error=0)),
        Refusal("wrong-error", GOOD.with_step("first init", error=KafkaError.PRODUCER_FENCED)),
        Refusal("transaction-not-over", GOOD.with_step("aborted", state="PrepareAbort")),
        Refusal("wrong-stored-state", GOOD.with_step("aborted", producer_epoch=2)),
        Refusal("init-never-succeeds", GOOD.with_step("init", error=CONCURRENT)),
        Refusal("another-producer-id", GOOD.with_step("init", producer_id=8)),
        Refusal("wrong-returned-epoch", GOOD.with_step("init", producer_epoch=3)),
        Refusal("wrong-returned-epoch", GOOD.with_step("init", producer_epoch=0)),
        Refusal("old-owner-not-fenced", GOOD.with_step("old owner's commit", error=0)),
        Refusal("wrong-markers", GOOD.with_log(truth=log(data(7, 0, "a"), abort(7, 1), commit(7, 1)))),
        Refusal("wrong-marker-epoch", GOOD.with_log(truth=log(data(7, 0, "a"), abort(7, 2)))),
        *unsound(GOOD, appended=None, shown="aborted-record-shown"),
    ),
    refuted_by=(
        Release(version="4.0.0", anomaly="wrong-marker-epoch"),
        Failpoint(rules=COORDINATORS_ABORT_BUMPS_TWICE, anomaly="wrong-marker-epoch"),
        Liar(api="InitProducerId", instead_of=CONCURRENT, error=0, anomaly="open-transaction-passed-over"),
        Liar(
            api="InitProducerId",
            error=KafkaError.UNKNOWN_SERVER_ERROR,
            skip=2,
            at_most=1,
            anomaly="init-never-succeeds",
        ),
        Liar(api="InitProducerId", fields={"producer_id": 4711}, skip=2, at_most=1, anomaly="another-producer-id"),
        Liar(api="InitProducerId", shift={"producer_epoch": 1}, skip=2, at_most=1, anomaly="wrong-returned-epoch"),
        Liar(api="EndTxn", instead_of=KafkaError.PRODUCER_FENCED, error=0, anomaly="old-owner-not-fenced"),
        Failpoint(rules=COORDINATORS_ABORT_BUMPS_TWICE, anomaly="wrong-stored-state"),
        Failpoint(rules=MARKERS_COMMIT, anomaly="aborted-record-shown"),
    ),
)
