"""KIP890-VERIFY-09: when its marker is written, a transaction is over: what arrives late is verified anew and refused.

The leader remembers for the length of one transaction that its partition was verified, and the marker must wipe that
out. An older client keeps its epoch, so only the verification tells the late write from one of a next transaction.
"""

from collections.abc import Iterator

from harness.base.json_value import Json
from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Refusal,
    Release,
    Requirement,
    Setting,
    Source,
    agree,
    refused,
    row,
    struck,
)
from harness.contract.byteman.leader_rules import EVERY_TRANSACTION_ONGOING, NO_GUARD_AT_THE_APPEND
from harness.contract.doctored import commit, data, evidence, held_link, log, sample, step
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab

VERSIONS = (9, 11)
FIRST_ABORTABLE = 11


def stimulus(lab: Lab) -> None:
    """A transaction adds, writes and commits; a second write of it lies on the lane until the end is complete."""
    txn, partition = lab.producer("victim"), lab.partition("P1")
    for version in lab.offered("Produce", VERSIONS):
        txn.add(partition)
        txn.produce(partition, version=version)
        lab.sample(f"open v{version}", partition)
        with lab.hold(txn.lane_to(partition.leader), name=f"hold v{version}") as held:
            late = txn.start_produce(partition, version=version)
            txn.end(commit=True)
            lab.reached(txn, "CompleteCommit", as_=f"transaction v{version}")
            lab.observer.producers(partition, as_=f"producers v{version}")
            held.release()
            late.answer(as_="late write")
        lab.sample(f"after v{version}", partition)


def check(seen: Evidence) -> Iterator[Observation]:
    """After the marker nothing is open; the late write is refused and leaves no trace."""
    for late in seen.all("late write"):
        struck(seen, late, by=f"hold v{late.version}")
        known = seen[f"producers v{late.version}"]
        start = row(known, "producers", producer_id=late.asked("producer_id")).get("current_txn_start_offset", -1)
        yield agree("start of an open transaction", start, -1, known, otherwise="transaction-not-closed")
        yield refused(late, 120 if late.version >= FIRST_ABORTABLE else 48, otherwise="late-write-accepted")
        entered = [value for value in seen.log().values() if value in late.written()]
        yield agree("late values in the log", entered, [], late, otherwise="late-record-appended")
        after = seen.sample(f"after v{late.version}")
        end = after.high_watermark
        yield agree("last stable offset", after.last_stable_offset, end, late, otherwise="hanging-transaction")


def kept(start: int) -> dict[str, Json]:
    """What the leader keeps of the producer."""
    return {"producer_id": 7, "current_txn_start_offset": start}


def late_one(version: int, code: int) -> Evidence:
    """The late write in this version, refused with this code; a sound log."""
    return evidence(
        step("late write", "Produce", version, error=code, held=20, request={"producer_id": 7, "values": ["late"]}),
        step(f"producers v{version}", "DescribeProducers", 0, producers=[kept(-1)]),
        logs={"P1": log(data(7, 0, "a"), commit(7, 0))},
        faults=(held_link(f"hold v{version}"),),
        samples=(sample(f"after v{version}", "P1", 2, 2),),
    )


GOOD, NEWER = late_one(9, 48), late_one(11, 120)
LATE = log(data(7, 0, "a"), commit(7, 0), data(7, 0, "late"))

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-09",
    level=Level.MUST,
    source=Source(890, "Ensure Ongoing Transaction for Older Clients (3)"),
    statement="After a transaction's marker, the next first write to the partition is verified again.",
    needs=(Offers("Produce", 9),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, NEWER),
    refuses=(
        Refusal("late-write-accepted", GOOD.with_step("late write", error=0)),
        Refusal("wrong-error", GOOD.with_step("late write", error=47)),
        Refusal("wrong-error", NEWER.with_step("late write", error=48)),
        Refusal("unanswered", NEWER.with_step("late write", error=None, answered=None)),
        Refusal("transaction-not-closed", GOOD.with_step("producers v9", producers=[kept(0)])),
        Refusal("late-record-appended", GOOD.with_log("P1", LATE)),
        Refusal("hanging-transaction", GOOD.with_sample("after v9", high_watermark=3)),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="hanging-transaction"),
        Setting(key="transaction.partition.verification.enable", value="false", anomaly="late-write-accepted"),
        Failpoint(rules=EVERY_TRANSACTION_ONGOING + NO_GUARD_AT_THE_APPEND, anomaly="late-write-accepted"),
    ),
)
