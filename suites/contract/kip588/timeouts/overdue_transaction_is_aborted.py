"""KIP588-TIMEOUT-01: a transaction that outlives its timeout is aborted by the coordinator, under a bumped epoch.

Beside it a transaction with a longer timeout stays open and commits, so that a coordinator that aborts everything is
seen too. Takes the timeout and the coordinator's round of looking: less than a second here, up to 15 s where that round
is Kafka's default of 10 s.
"""

from collections.abc import Iterator

from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Refusal,
    Release,
    Requirement,
    Source,
    accepted,
    agree,
    unless,
)
from harness.contract.byteman.coordinator_rules import NO_TIMEOUT
from harness.contract.byteman.transaction_metadata_rules import COORDINATORS_ABORT_BUMPS_TWICE
from harness.contract.doctored import abort, commit, data, evidence, log, step
from harness.evidence.requirement_evidence import Evidence, NotSeen
from harness.lab import Lab

TIMEOUT_MS = 300
BOUND = 20.0
"""Seconds: the timeout, Kafka's default cleanup interval of 10 s, and room for a loaded machine."""


def stimulus(lab: Lab) -> None:
    """Two transactions; one is left alone past its timeout, the other is committed after that."""
    patient, hasty = lab.partition("P2"), lab.partition("P1")
    in_time, overdue = lab.producer("rival"), lab.producer("victim", timeout_ms=TIMEOUT_MS)
    in_time.write(patient)
    overdue.add(hasty, as_="add")
    overdue.produce(hasty, as_="overdue write")
    lab.reached(overdue, "CompleteAbort", as_="aborted", within=BOUND)
    lab.observer.transaction(in_time.transactional_id, in_time.coordinator, as_="in time")
    in_time.end(commit=True, as_="commit in time")


def check(seen: Evidence) -> Iterator[Observation]:
    """Aborted with one marker one epoch up, not before its time; the other one's commit untouched."""
    add, write, aborted = seen["add"], seen["overdue write"], seen["aborted"]
    if write.error != 0 and (write.answered or write.sent) - add.sent > TIMEOUT_MS:
        raise NotSeen("the machine was too slow to write within the transaction's timeout")
    yield accepted(write, otherwise="aborted-before-timeout")
    lasted = (aborted.answered or aborted.sent) - add.sent
    yield unless(lasted >= TIMEOUT_MS, "it was left open for its timeout", add, otherwise="aborted-before-timeout")
    yield agree("the state", aborted.fields.get("state"), "CompleteAbort", write, aborted, otherwise="never-aborted")
    yield agree("the stored epoch", aborted.fields.get("producer_epoch"), 1, aborted, otherwise="wrong-stored-epoch")
    markers = [(marker.control, marker.producer_epoch) for marker in seen.log().markers()]
    yield agree("markers", markers, [("ABORT", 1)], write, otherwise="wrong-markers")
    yield agree("committed values", seen.log().committed, (), write, otherwise="aborted-record-shown")
    yield agree("LSO", seen.log().last_stable_offset, seen.log().high_watermark, otherwise="stuck-lso")
    yield agree("the other's state", seen["in time"].fields.get("state"), "Ongoing", otherwise="aborted-in-time")
    yield accepted(seen["commit in time"], otherwise="aborted-in-time")
    ended = [(marker.control, marker.producer_epoch) for marker in seen.log("P2").markers()]
    promised = [("COMMIT", 1 if seen["commit in time"].version >= 5 else 0)]
    yield agree("the other's markers", ended, promised, seen["commit in time"], otherwise="wrong-commit-marker")


GOOD = evidence(
    step("add", "AddPartitionsToTxn", 3),
    step("overdue write", "Produce", 11, base_offset=0),
    step("aborted", "DescribeTransactions", 0, state="CompleteAbort", producer_epoch=1, answered=600.0),
    step("in time", "DescribeTransactions", 0, state="Ongoing"),
    step("commit in time", "EndTxn", 4),
    logs={"P1": log(data(7, 0, "a"), abort(7, 1)), "P2": log(data(8, 0, "b"), commit(8, 0))},
)

REQUIREMENT = Requirement(
    id="KIP588-TIMEOUT-01",
    level=Level.MUST,
    source=Source(588, "Proposed Changes: the coordinator times a transaction out"),
    statement="A transaction open longer than its timeout is aborted and its epoch bumped by one.",
    needs=(Offers("InitProducerId", 0), Offers("DescribeTransactions", 0)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("aborted-before-timeout", GOOD.with_step("overdue write", error=47)),
        Refusal("aborted-before-timeout", GOOD.with_step("aborted", answered=200.0)),
        Refusal("never-aborted", GOOD.with_step("aborted", state="Ongoing")),
        Refusal("wrong-stored-epoch", GOOD.with_step("aborted", producer_epoch=2)),
        Refusal("wrong-markers", GOOD.with_log(truth=log(data(7, 0, "a"), abort(7, 2)))),
        Refusal("aborted-record-shown", GOOD.with_log(committed=("a",))),
        Refusal("stuck-lso", GOOD.with_log(last_stable_offset=0)),
        Refusal("aborted-in-time", GOOD.with_step("in time", state="CompleteAbort")),
        Refusal("aborted-in-time", GOOD.with_step("commit in time", error=47)),
        Refusal("wrong-commit-marker", GOOD.with_log("P2", log(data(8, 0, "b"), commit(8, 1)))),
    ),
    refuted_by=(
        Release(version="4.0.0", anomaly="wrong-markers"),
        Failpoint(rules=NO_TIMEOUT, anomaly="never-aborted"),
        Failpoint(rules=COORDINATORS_ABORT_BUMPS_TWICE, anomaly="wrong-markers"),
    ),
)
