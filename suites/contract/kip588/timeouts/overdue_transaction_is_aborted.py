"""KIP588-TIMEOUT-01: a transaction that outlives its timeout is aborted by the coordinator, under a bumped epoch.

Beside it a transaction with a longer timeout stays open and commits, so that a coordinator that aborts everything is
seen too. Takes the timeout and the interval at which the coordinator looks for such transactions: less than a second
here, up to 15 s where that interval is Kafka's default of 10 s.
"""

from harness.contract import Evidence, KafkaError, NotSeen, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.coordinator_rules import NO_TIMEOUT
from harness.contract.byteman.transaction_metadata_rules import COORDINATORS_ABORT_BUMPS_TWICE
from harness.contract.doctored import abort, commit, data, described, ended, evidence, log, step, unsound, written
from harness.contract.refuters import Failpoint, Release
from harness.contract.version_tables import epoch_after_end
from harness.lab import Lab

TIMEOUT_MS = 300
BOUND_SECONDS = 20.0
"""The timeout, Kafka's default cleanup interval of 10 s, and room for a loaded machine."""


def stimulus(lab: Lab) -> None:
    """Two transactions; one is left alone past its timeout, the other is committed after that."""
    other, partition = lab.partition("P2"), lab.partition("P1")
    in_time, overdue = lab.producer("rival"), lab.producer("victim", timeout_ms=TIMEOUT_MS)
    in_time.write(other)
    overdue.add(partition, as_="add")
    overdue.produce(partition, as_="overdue write")
    lab.reached(overdue, "CompleteAbort", as_="aborted", timeout_seconds=BOUND_SECONDS)
    lab.observer.transaction(in_time.transactional_id, in_time.coordinator, as_="in time")
    in_time.end(commit=True, as_="commit in time")


def check(seen: Evidence) -> Observations:
    """Aborted with one marker one epoch up, not before its time; the other one's commit untouched."""
    add, write, aborted, end = seen["add"], seen["overdue write"], seen["aborted"], seen["commit in time"]
    if write.error != 0 and (write.answered or write.sent) - add.sent > TIMEOUT_MS:
        raise NotSeen("the machine was too slow to write within the transaction's timeout")
    yield expect.accepted(write, otherwise="aborted-before-timeout")
    lasted_ms = (aborted.answered or aborted.sent) - add.sent
    left_open = lasted_ms >= TIMEOUT_MS
    yield expect.unless(left_open, "it was left open for its timeout", add, otherwise="aborted-before-timeout")
    yield expect.keeps(aborted, state="CompleteAbort", otherwise="never-aborted")
    yield expect.keeps(aborted, epoch=1, otherwise="wrong-stored-epoch")
    yield from expect.sound(seen, committed=(), markers=(("ABORT", 1),), shown="aborted-record-shown")
    yield expect.keeps(seen["in time"], state="Ongoing", otherwise="aborted-in-time")
    yield expect.accepted(end, otherwise="aborted-in-time")
    yield expect.marks(seen, "P2", ("COMMIT", epoch_after_end(0, end.version)), otherwise="wrong-commit-marker")


GOOD = evidence(
    step("add", "AddPartitionsToTxn", 3),
    written("overdue write", 11, "a"),
    described("aborted", "CompleteAbort", epoch=1),
    described("in time", "Ongoing"),
    ended("commit in time", version=4),
    logs={"P1": log(data(7, 0, "a"), abort(7, 1)), "P2": log(data(8, 0, "b"), commit(8, 0))},
).with_step("aborted", answered=600.0)

REQUIREMENT = Requirement(
    id="KIP588-TIMEOUT-01",
    source=Source(588, "Proposed Changes: the coordinator times a transaction out"),
    statement="A transaction open longer than its timeout is aborted and its epoch bumped by one.",
    needs=(Offers("InitProducerId", 0), Offers("DescribeTransactions", 0)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("aborted-before-timeout", GOOD.with_step("overdue write", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("aborted-before-timeout", GOOD.with_step("aborted", answered=200.0)),
        Refusal("never-aborted", GOOD.with_step("aborted", state="Ongoing")),
        Refusal("wrong-stored-epoch", GOOD.with_step("aborted", producer_epoch=2)),
        Refusal("wrong-markers", GOOD.with_log(truth=log(data(7, 0, "a"), abort(7, 2)))),
        *unsound(GOOD, appended=None, shown="aborted-record-shown"),
        Refusal("aborted-in-time", GOOD.with_step("in time", state="CompleteAbort")),
        Refusal("aborted-in-time", GOOD.with_step("commit in time", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("wrong-commit-marker", GOOD.with_log("P2", log(data(8, 0, "b"), commit(8, 1)))),
    ),
    refuted_by=(
        Release(version="4.0.0", anomaly="wrong-markers"),
        Failpoint(rules=NO_TIMEOUT, anomaly="never-aborted"),
        Failpoint(rules=COORDINATORS_ABORT_BUMPS_TWICE, anomaly="wrong-markers"),
    ),
)
