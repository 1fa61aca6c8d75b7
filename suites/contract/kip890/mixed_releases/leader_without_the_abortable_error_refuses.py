"""KIP890-VERIFY-23: a leader that does not know TRANSACTION_ABORTABLE refuses an unadded write with INVALID_TXN_STATE.

Here the coordinator is of the judged release, and the leader of 3.7.2, which verifies by AddPartitionsToTxn v4. The KIP
lets the coordinator answer INVALID_TXN_STATE to a verification; brokers of both kinds understand that.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.verification_rules import EVERYTHING_IS_IN_THE_TRANSACTION
from harness.contract.doctored import commit, data, ended, evidence, log, refused_write, sample, step, unsound, written
from harness.contract.refuters import Failpoint, Release
from harness.lab import Lab
from suites.contract.wishes import JUDGED, OLDER_BROKERS, WITHOUT_ABORTABLE


def stimulus(lab: Lab) -> None:
    """Write without an add, then as it should be."""
    txn, partition = lab.producer(coordinator=JUDGED), lab.partition("P1", leader=WITHOUT_ABORTABLE)
    for version in (9, 10):
        txn.produce(partition, version=version, as_="unadded write")
    lab.sample("refused", partition)
    txn.add(partition, as_="add")
    txn.produce(partition, version=9, as_="added write")
    txn.end(commit=True, as_="end")
    lab.reached(txn, "CompleteCommit", as_="kept")


def check(seen: Evidence) -> Observations:
    """Refused with the error that both know, and nothing of it is in the log."""
    for write in seen.all("unadded write"):
        yield expect.refused(write, KafkaError.INVALID_TXN_STATE, otherwise="unadded-write-accepted")
    end = seen.sample("refused").high_watermark
    yield expect.agree("high watermark after the unadded writes", end, 0, otherwise="unadded-record-appended")
    for name in ("add", "added write", "end"):
        yield expect.accepted(seen[name], otherwise="right-step-refused")
    yield from expect.sound(seen, "P1", seen["added write"].written(), markers=(("COMMIT",),))


OLD = KafkaError.INVALID_TXN_STATE
GOOD = evidence(
    *(refused_write("unadded write", version, OLD) for version in (9, 10)),
    step("add", "AddPartitionsToTxn", 3),
    written("added write", 9, "a"),
    ended(version=4),
    samples=(sample("refused", "P1", 0, 0),),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0))},
)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-23",
    source=Source(890, "Old Servers; Ensure Ongoing Transaction for Older Clients (3)"),
    statement="A leader that does not know error 120 refuses an unadded write with the error that it knows.",
    needs=(Offers("AddPartitionsToTxn", 4),),
    cluster=OLDER_BROKERS,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unadded-write-accepted", GOOD.with_step("unadded write", error=0)),
        Refusal("wrong-error", GOOD.with_step("unadded write", error=KafkaError.UNKNOWN_SERVER_ERROR)),
        Refusal("unanswered", GOOD.with_step("unadded write", error=None)),
        Refusal("unadded-record-appended", GOOD.with_sample("refused", high_watermark=1)),
        *(Refusal("right-step-refused", GOOD.with_step(name, error=OLD)) for name in ("add", "added write", "end")),
        *unsound(GOOD),
        Refusal("wrong-markers", GOOD.with_log(truth=log(data(7, 0, "a"), commit(7, 0), commit(7, 0)))),
    ),
    refuted_by=(
        Release(version="4.1.2", anomaly="wrong-error"),
        Failpoint(rules=EVERYTHING_IS_IN_THE_TRANSACTION, anomaly="unadded-write-accepted"),
    ),
)
