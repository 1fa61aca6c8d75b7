"""KIP588-TIMEOUT-03: an overdue transaction with a partition out of reach is aborted, and ends when that is back.

The partition's only broker is killed and fenced before the timeout, so that the partition has no leader. The
coordinator prepares the abort, marks the partition that it reaches, and keeps trying the other one. That it ends
everywhere is the promise; that the reachable partition need not wait, and names of states, are Kafka's. Kafka 4.3 takes
a partition without leader for a deleted one and never marks it (KAFKA-20734).
"""

from contextlib import suppress

from harness.base.wait import TimedOut
from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    NotSeen,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.coordinator_rules import NO_TIMEOUT
from harness.contract.doctored import abort, data, described, ended, evidence, log, sample, unsound, written
from harness.contract.refuters import Failpoint, Release
from harness.contract.version_tables import fenced
from harness.evidence.requirement_evidence import Fault
from harness.lab import Lab

TIMEOUT_MS = 5_000
BOUND_SECONDS = 25.0
"""For the timeout, Kafka's 10 s between looks for overdue transactions, and a loaded machine."""
GIVEN_UP_SECONDS = 2.0
"""Within which a coordinator that gave the partition up calls the abort complete, after the other marker is written."""
ALIASES = ("near", "away")


def stimulus(lab: Lab) -> None:
    """Both partitions are written to, one's leader is killed; past the timeout it comes back."""
    txn = lab.producer(timeout_ms=TIMEOUT_MS)
    away = lab.partition("away", leader=lab.another_broker(txn.coordinator))
    near = lab.partition("near", leader=txn.coordinator)
    txn.add(near, away, as_="add")
    for partition in (near, away):
        txn.produce(partition, as_="write")
    with lab.nodes.killed(away.leader, name="killed"):
        lab.nodes.await_fenced(away.leader)
        lab.reached(txn, "PrepareAbort", "CompleteAbort", as_="prepared", timeout_seconds=BOUND_SECONDS)
        lab.passed(near, 0)
        lab.sample("near while away", near)
        lab.reached(txn, "CompleteAbort", as_="still prepared", timeout_seconds=GIVEN_UP_SECONDS)
    with suppress(TimedOut):
        lab.completed(near, away)
    lab.reached(txn, "CompleteAbort", as_="aborted")
    txn.end(commit=True, as_="late commit", retry=())


def check(seen: Evidence) -> Observations:
    """Prepared while it was away, complete after it, an abort marker on both, nothing shown."""
    killed, add, kept = seen.fault("killed"), seen["add"], seen["still prepared"]
    if killed.started - add.sent > TIMEOUT_MS or killed.ended - add.sent < TIMEOUT_MS:
        raise NotSeen("the broker was not away at the timeout")
    for write in seen.all("write"):
        yield expect.accepted(write, otherwise="write-refused")
    yield expect.habit(expect.keeps(kept, state="PrepareAbort", otherwise="wrong-state-kept"))
    yield expect.habit(expect.stable(seen.sample("near while away"), otherwise="reachable-partition-waits"))
    yield expect.over(seen["aborted"], otherwise="never-aborted")
    late = seen["late commit"]
    codes = sorted({fenced(late.api, late.version), KafkaError.INVALID_PRODUCER_EPOCH})
    yield expect.refused(late, *codes, KafkaError.INVALID_TXN_STATE, otherwise="overdue-commit-accepted")
    for alias, write in zip(ALIASES, seen.all("write"), strict=True):
        yield from expect.sound(seen, alias, write.written(), committed=())
        kinds = {str(marker.control) for marker in seen.log(alias).markers()}  # a coordinator may write one again
        yield expect.agree(f"kinds of markers in {alias}", kinds, {"ABORT"}, otherwise="wrong-markers")


GOOD = evidence(
    written("add", 3),
    written("write", 11, "a", to="near"),
    written("write", 11, "b", to="away"),
    described("still prepared", "PrepareAbort", epoch=1),
    described("aborted", "CompleteAbort", epoch=1),
    ended("late commit", version=4, error=KafkaError.PRODUCER_FENCED),
    samples=(sample("near while away", "near", 2, 2),),
    faults=(Fault(name="killed", kind="kill", where="broker-2", started=100.0, ended=6_000.0),),
    logs={alias: log(data(7, 0, value), abort(7, 1)) for alias, value in zip(ALIASES, "ab", strict=True)},
)

REQUIREMENT = Requirement(
    id="KIP588-TIMEOUT-03",
    source=Source(588, "Proposed Changes: the coordinator times a transaction out"),
    statement="An overdue transaction with an unreachable partition is aborted everywhere once that is back.",
    needs=(Offers("InitProducerId", 0),),
    order=Order.HURTS_CLUSTER,
    access=(Access.NODES, Access.BROKERS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("write-refused", GOOD.with_step("write", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("wrong-state-kept", GOOD.with_step("still prepared", state="Ongoing")),
        Refusal("reachable-partition-waits", GOOD.with_sample("near while away", last_stable_offset=0)),
        Refusal("never-aborted", GOOD.with_step("aborted", state="PrepareAbort")),
        Refusal("overdue-commit-accepted", GOOD.with_step("late commit", error=0)),
        Refusal("wrong-error", GOOD.with_step("late commit", error=KafkaError.UNKNOWN_SERVER_ERROR)),
        Refusal("unanswered", GOOD.with_step("late commit", error=None)),
        Refusal("wrong-markers", GOOD.with_log("away", truth=log(data(7, 0, "b")), last_stable_offset=1)),
        *unsound(GOOD, "near"),
        *unsound(GOOD, "away"),
    ),
    refuted_by=(
        Failpoint(rules=NO_TIMEOUT, anomaly="never-aborted"),
        Release(version="4.3.1", anomaly="stuck-lso"),
        Failpoint(rules=NO_TIMEOUT, anomaly="reachable-partition-waits"),
    ),
)
