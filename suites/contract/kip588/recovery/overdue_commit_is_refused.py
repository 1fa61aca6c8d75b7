"""KIP588-RECOVER-04: a commit after a timeout is refused, and what was aborted stays so.

To tell a client that its transaction was committed when the coordinator has aborted it would be a lost write. Asked for
at every version, twice, and once more after the client's abort; then the next transaction, written with the identity
that the abort returned, commits on its own.

That it fails is the promise, by both KIPs. The code is Kafka's: INVALID_TXN_STATE of version 5, since the epoch is the
last one (PRODUCER_FENCED from KAFKA-20785 on, and in 4.0.0), and that of a stale epoch below.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.coordinator_rules import OPPOSITE_END_TAKEN_FOR_REPETITION
from harness.contract.checks.timing import in_time
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint, Liar
from harness.contract.version_tables import fenced
from harness.lab import Lab
from harness.lab.powers.timeouts import TIMEOUT_MS, timed_out

WRONG_STATE, FENCED = KafkaError.INVALID_TXN_STATE, KafkaError.PRODUCER_FENCED


def stimulus(lab: Lab) -> None:
    """A transaction times out; its commit is asked for before and after the abort."""
    partition = lab.partition("P1")
    txn = timed_out(lab, partition, protocol=2)
    epoch, versions = txn.epoch, lab.offered("EndTxn", range(6))
    for version in (*versions, versions[-1]):
        txn.end(commit=True, epoch=epoch, version=version, as_="overdue commit")
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
    txn.end(commit=False, epoch=epoch, version=5, as_="overdue abort")
    txn.end(commit=True, epoch=epoch, version=5, as_="overdue commit")
    txn.produce(partition, as_="next write")
    txn.end(commit=True, as_="next end")


def check(seen: Evidence) -> Observations:
    """Refused at every version; only the next transaction is committed."""
    for commit in seen.all("overdue commit"):
        codes = (WRONG_STATE, FENCED) if commit.version >= 5 else (fenced("EndTxn", commit.version),)
        yield expect.refused(commit, *codes, code=Level.SHOULD, otherwise="overdue-commit-accepted")
    yield expect.over(seen["kept"])
    yield expect.unchanged(seen["timed out"], seen["kept"], "state", "producer_epoch", otherwise="decision-changed")
    in_time(seen["next write"], seen["next end"], timeout_ms=TIMEOUT_MS)
    yield from expect.sound(seen, committed=expect.values(seen, "next write"))
    yield expect.marks(seen, "P1", ("ABORT",), ("COMMIT",))


GOOD = adopted(__file__, "KIP588-RECOVER-04")
_UNENDED = GOOD.with_step("kept", state="Ongoing")

REQUIREMENT = Requirement(
    id="KIP588-RECOVER-04",
    source=Source(588, "Proposed Changes: the end transaction call is protected as well"),
    statement="Committing after a timeout on the server fails and commits nothing.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("overdue-commit-accepted", GOOD.with_step("overdue commit", error=0)),
        Refusal("wrong-error", GOOD.with_step("overdue commit", error=KafkaError.CONCURRENT_TRANSACTIONS)),
        Refusal("unanswered", GOOD.with_step("overdue commit", error=None)),
        Refusal(
            "transaction-not-over", GOOD.with_step("kept", state="Ongoing").with_step("timed out", state="Ongoing")
        ),
        Refusal("decision-changed", GOOD.with_step("kept", state="CompleteCommit")),
        Refusal("wrong-markers", GOOD.with_log("P1", batches=GOOD.log().batches[:-1])),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=OPPOSITE_END_TAKEN_FOR_REPETITION, anomaly="overdue-commit-accepted"),
        Liar(api="EndTxn", error=0, instead_of=WRONG_STATE, anomaly="overdue-commit-accepted"),
    ),
)
