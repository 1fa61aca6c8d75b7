"""KIP588-TIMEOUT-01: a transaction that outlives its timeout is aborted by the coordinator, under a bumped epoch.

Beside it a transaction with a longer timeout stays open and commits, so that a coordinator that aborts everything is
seen too. Takes the timeout and the interval at which the coordinator looks for such transactions, which it is asked
for: some two seconds here, up to 11 s where that interval is Kafka's default.

The KIP promises the abort, and that the old epoch is refused afterwards. Its code for that (TRANSACTION_TIMED_OUT) was
never made; the code, and that the epoch grows by exactly one, are as Kafka does it.
"""

from contextlib import suppress

from harness.base.wait import TimedOut, until
from harness.contract import (
    Evidence,
    KafkaError,
    Level,
    NotSeen,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.coordinator_rules import NO_TIMEOUT
from harness.contract.byteman.transaction_metadata_rules import (
    COORDINATORS_ABORT_BUMPS_TWICE,
    EVERY_TRANSACTION_OVERDUE_SOON,
)
from harness.contract.doctored import (
    abort,
    commit,
    data,
    described,
    ended,
    evidence,
    log,
    sample,
    step,
    unsound,
    written,
)
from harness.contract.refuters import Failpoint, Liar, Release
from harness.contract.version_tables import fenced
from harness.lab import Lab
from harness.lab.powers.timeouts import ROOM_SECONDS, cleanup_ms

TIMEOUT_MS = 1_000
"""Long enough to write within it where much else is at work."""


def stimulus(lab: Lab) -> None:
    """Two transactions; one is left alone past its timeout, the other is committed after that."""
    other, partition = lab.partition("P2"), lab.partition("P1")
    in_time, overdue = lab.producer("rival"), lab.producer("victim", timeout_ms=TIMEOUT_MS)
    lab.note("timeout_ms", TIMEOUT_MS)
    overdue_ms = TIMEOUT_MS + cleanup_ms(lab, overdue.coordinator)
    bound_seconds = overdue_ms / 1000 + ROOM_SECONDS
    in_time.write(other)
    begun = lab.now()
    overdue.add(partition, as_="add")
    overdue.produce(partition, as_="overdue write")
    with suppress(TimedOut):
        lab.completed(partition, timeout_seconds=bound_seconds)
    lab.sample("past the timeout", partition)
    if lab.now() - begun < TIMEOUT_MS:  # not open in its time: the commit must be overdue all the same
        until(lambda: lab.now() - begun > overdue_ms, what="the timeout", timeout_seconds=bound_seconds)
    lab.observer.transaction(in_time.transactional_id, in_time.coordinator, as_="in time")
    overdue.end(commit=True, as_="overdue commit")
    in_time.end(commit=True, as_="commit in time")
    lab.reached(overdue, "CompleteAbort", as_="aborted")


def check(seen: Evidence) -> Observations:
    """Aborted with one marker one epoch up, not before its time; the other one's commit untouched."""
    add, write, late, aborted = seen["add"], seen["overdue write"], seen["overdue commit"], seen["aborted"]
    timeout_ms = int(str(seen.fact("timeout_ms")))
    if write.error != 0 and (write.answered or write.sent) - add.sent > timeout_ms:
        raise NotSeen("the machine was too slow to write within the transaction's timeout")
    yield expect.accepted(write, otherwise="aborted-before-timeout")
    over = seen.sample("past the timeout")
    left_open = over.at - add.sent >= timeout_ms
    yield expect.unless(left_open, "it was left open for its timeout", add, otherwise="aborted-before-timeout")
    yield expect.stable(over, otherwise="never-aborted")
    yield expect.refused(late, fenced("EndTxn", late.version), code=Level.SHOULD, otherwise="overdue-commit-accepted")
    yield expect.over(aborted, otherwise="never-aborted")
    yield expect.habit(expect.keeps(aborted, epoch=1, otherwise="wrong-stored-epoch"))
    yield from expect.sound(seen, committed=(), markers=(("ABORT",),), shown="aborted-record-shown")
    epochs = {marker.producer_epoch for marker in seen.log().markers()}
    yield expect.habit(expect.agree("epochs of the marker", epochs, {1}, otherwise="wrong-marker-epoch"))
    yield expect.keeps(seen["in time"], state="Ongoing", otherwise="aborted-in-time")
    yield expect.accepted(seen["commit in time"], otherwise="aborted-in-time")
    yield expect.marks(seen, "P2", ("COMMIT",), otherwise="wrong-commit-marker")


GOOD = evidence(
    step("add", "AddPartitionsToTxn", 3),
    written("overdue write", 11, "a"),
    described("in time", "Ongoing"),
    ended("overdue commit", version=4, error=KafkaError.PRODUCER_FENCED),
    ended("commit in time", version=4),
    described("aborted", "CompleteAbort", epoch=1),
    timeout_ms=1_000,
    samples=(sample("past the timeout", "P1", 2, 2, at=1_300.0),),
    logs={"P1": log(data(7, 0, "a"), abort(7, 1)), "P2": log(data(8, 0, "b"), commit(8, 0))},
)

REQUIREMENT = Requirement(
    id="KIP588-TIMEOUT-01",
    source=Source(588, "Proposed Changes: the coordinator times a transaction out"),
    statement="A transaction open longer than its timeout is aborted and its epoch bumped by one.",
    needs=(Offers("InitProducerId", 0),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("aborted-before-timeout", GOOD.with_step("overdue write", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("aborted-before-timeout", GOOD.with_sample("past the timeout", at=200.0)),
        Refusal("never-aborted", GOOD.with_sample("past the timeout", last_stable_offset=0)),
        Refusal("never-aborted", GOOD.with_step("aborted", state="Ongoing")),
        Refusal("overdue-commit-accepted", GOOD.with_step("overdue commit", error=0)),
        Refusal("wrong-error", GOOD.with_step("overdue commit", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("wrong-stored-epoch", GOOD.with_step("aborted", producer_epoch=2)),
        Refusal("wrong-markers", GOOD.with_log(truth=log(data(7, 0, "a"), commit(7, 1)), committed=())),
        Refusal("wrong-marker-epoch", GOOD.with_log(truth=log(data(7, 0, "a"), abort(7, 2)))),
        *unsound(GOOD, appended=None, shown="aborted-record-shown"),
        Refusal("aborted-in-time", GOOD.with_step("in time", state="CompleteAbort")),
        Refusal("aborted-in-time", GOOD.with_step("commit in time", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("wrong-commit-marker", GOOD.with_log("P2", log(data(8, 0, "b"), abort(8, 1)))),
    ),
    refuted_by=(
        Release(version="4.0.0", anomaly="wrong-marker-epoch"),
        Failpoint(rules=NO_TIMEOUT, anomaly="never-aborted"),
        Failpoint(rules=COORDINATORS_ABORT_BUMPS_TWICE, anomaly="wrong-marker-epoch"),
        Liar(
            api="Produce", error=KafkaError.INVALID_PRODUCER_EPOCH, skip=1, at_most=1, anomaly="aborted-before-timeout"
        ),
        Failpoint(rules=EVERY_TRANSACTION_OVERDUE_SOON, anomaly="aborted-in-time"),
        Failpoint(rules=EVERY_TRANSACTION_OVERDUE_SOON, anomaly="wrong-commit-marker"),
    ),
)
