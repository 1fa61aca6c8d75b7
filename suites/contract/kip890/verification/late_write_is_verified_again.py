"""KIP890-VERIFY-09: when its marker is written, a transaction is over: what arrives late is verified anew and refused.

The leader remembers for the length of one transaction that its partition was verified, and the marker must wipe that
out. An older client keeps its epoch, so only the verification tells the late write from one of a next transaction.
"""

from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import EVERY_TRANSACTION_ONGOING, NO_GUARD_AT_THE_APPEND
from harness.contract.doctored import commit, data, evidence, known_producer, log, producer_row, refused_write, sample
from harness.contract.refuters import VERIFICATION, Failpoint, Release, Setting
from harness.contract.version_tables import unadded
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """A transaction adds, writes and commits; a second write of it is held on its lane until then."""
    txn, partition = lab.producer("victim"), lab.partition("P1")
    for version in lab.offered("Produce", (9, 11)):
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


def check(seen: Evidence) -> Observations:
    """After the marker nothing is open; the late write is refused and leaves no trace."""
    for late in seen.all("late write"):
        version, own = late.version, late.request_int("producer_id")
        expect.struck(seen, late, by=f"hold v{version}")
        yield expect.not_open(seen[f"producers v{version}"], own, otherwise="transaction-not-closed")
        yield expect.refused(late, unadded(version), otherwise="late-write-accepted")
        appended = [value for value in seen.log().values() if value in late.written()]
        yield expect.agree("late values in the log", appended, [], late, otherwise="late-record-appended")
        yield expect.stable(seen.sample(f"after v{version}"), late, otherwise="hanging-transaction")


def late_write(version: int) -> Evidence:
    """The late write in this version, refused; a sound log."""
    return evidence(
        refused_write("late write", version, unadded(version), "late", held=20),
        known_producer(f"producers v{version}"),
        logs={"P1": log(data(7, 0, "a"), commit(7, 0))},
        held=(f"hold v{version}",),
        samples=(sample(f"after v{version}", "P1", 2, 2),),
    )


GOOD, NEWER = late_write(9), late_write(11)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-09",
    source=Source(890, "Ensure Ongoing Transaction for Older Clients (3)"),
    statement="After a transaction's marker, the next first write to the partition is verified again.",
    needs=(Offers("Produce", 9),),
    access=(Access.LANES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, NEWER),
    refuses=(
        Refusal("late-write-accepted", GOOD.with_step("late write", error=0)),
        Refusal("wrong-error", GOOD.with_step("late write", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("wrong-error", NEWER.with_step("late write", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", NEWER.with_step("late write", error=None, answered=None)),
        Refusal("transaction-not-closed", GOOD.with_step("producers v9", producers=[producer_row(since=0)])),
        Refusal("late-record-appended", GOOD.with_log("P1", log(data(7, 0, "a"), commit(7, 0), data(7, 0, "late")))),
        Refusal("hanging-transaction", GOOD.with_sample("after v9", high_watermark=3)),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="hanging-transaction"),
        Setting(key=VERIFICATION, value="false", anomaly="late-write-accepted"),
        Failpoint(rules=EVERY_TRANSACTION_ONGOING + NO_GUARD_AT_THE_APPEND, anomaly="late-write-accepted"),
    ),
)
