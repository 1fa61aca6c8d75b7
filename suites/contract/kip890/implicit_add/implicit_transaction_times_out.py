"""KIP890-IMPL-12: a transaction that only Produce requests opened is aborted at its timeout like any other.

Nobody sent AddPartitionsToTxn, so that its start is known from the implicit add alone. Beside it, one with a longer
timeout goes on. The abort is the KIP's (the coordinator keeps the transaction as ongoing); names of states, and how
often the coordinator looks, are Kafka's.
"""

from contextlib import suppress

from harness.base.wait import TimedOut
from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.coordinator_rules import NO_TIMEOUT
from harness.contract.checks.timing import in_time
from harness.contract.doctored import abort, commit, data, described, ended, evidence, log, sample, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab

TIMEOUT_MS = 300
BOUND_SECONDS = 25.0
"""For the timeout, Kafka's 10 s between looks for overdue transactions, and a loaded machine."""


def stimulus(lab: Lab) -> None:
    """Two transactions are opened by a write each; one is left alone past its timeout, the other commits after that."""
    partition, other = lab.partition("P1"), lab.partition("P2")
    in_time, overdue = lab.producer("rival", protocol=2), lab.producer(protocol=2, timeout_ms=TIMEOUT_MS)
    in_time.produce(other, as_="write in time")
    overdue.produce(partition, as_="overdue write")
    with suppress(TimedOut):
        lab.completed(partition, timeout_seconds=BOUND_SECONDS)
    lab.sample("past the timeout", partition)
    lab.reached(overdue, "CompleteAbort", as_="aborted")
    overdue.produce(partition, as_="late write", retry=())
    in_time.end(commit=True, as_="commit in time")


def check(seen: Evidence) -> Observations:
    """One abort marker, nothing shown, readers go on, the old epoch is over; the other one is committed."""
    write, over = seen["overdue write"], seen.sample("past the timeout")
    if write.error != 0:
        in_time(write, write, timeout_ms=TIMEOUT_MS)
    yield expect.accepted(write, otherwise="aborted-before-timeout")
    aged = over.at - write.sent >= TIMEOUT_MS
    yield expect.unless(aged, "it was left open for its timeout", write, otherwise="aborted-before-timeout")
    yield expect.stable(over, otherwise="never-aborted")
    yield expect.over(seen["aborted"], otherwise="never-aborted")
    late = seen["late write"]
    yield expect.unless(late.error != 0, "a later write in the old epoch is refused", late, otherwise="zombie-write")
    yield from expect.sound(seen, "P1", write.written(), committed=(), markers=[("ABORT",)])
    for step in (seen["write in time"], seen["commit in time"]):
        yield expect.accepted(step, otherwise="aborted-in-time")
    yield from expect.sound(seen, "P2", seen["write in time"].written(), markers=[("COMMIT",)])


GOOD = evidence(
    written("write in time", 12, "b", producer_id=8, to="P2"),
    written("overdue write", 12, "a"),
    described("aborted", "CompleteAbort", epoch=1),
    written("late write", 12, "c"),
    ended("commit in time"),
    samples=(sample("past the timeout", "P1", 2, 2, at=600.0),),
    logs={"P1": log(data(7, 0, "a"), abort(7, 1)), "P2": log(data(8, 0, "b"), commit(8, 1))},
).with_step("late write", error=KafkaError.INVALID_PRODUCER_EPOCH)

REQUIREMENT = Requirement(
    id="KIP890-IMPL-12",
    source=Source(890, "Implicitly Add Partitions to Transactions on Produce for New Clients (2)"),
    statement="A transaction opened by implicit adds alone is aborted at its timeout.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("aborted-before-timeout", GOOD.with_step("overdue write", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("aborted-before-timeout", GOOD.with_sample("past the timeout", at=200.0)),
        Refusal("never-aborted", GOOD.with_sample("past the timeout", last_stable_offset=0)),
        Refusal("never-aborted", GOOD.with_step("aborted", state="Ongoing")),
        Refusal("zombie-write", GOOD.with_step("late write", error=0)),
        Refusal("wrong-markers", GOOD.with_log("P1", batches=GOOD.log("P1").batches[:1])),
        Refusal("aborted-in-time", GOOD.with_step("write in time", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("aborted-in-time", GOOD.with_step("commit in time", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("wrong-markers", GOOD.with_log("P2", truth=log(data(8, 0, "b"), abort(8, 1)), committed=("b",))),
        *unsound(GOOD),
        *unsound(GOOD, "P2"),
    ),
    refuted_by=(
        Failpoint(rules=NO_TIMEOUT, anomaly="never-aborted"),
        Liar(api="Produce", instead_of=KafkaError.INVALID_PRODUCER_EPOCH, error=0, anomaly="zombie-write"),
    ),
)
