"""KIP588-RECOVER-03: a client that aborts a transaction which has timed out is told that it is aborted.

The KIP has producers abort after a refused write «to detect whether this was due to a timeout or otherwise». The answer
to EndTxn v5 carries the bumped identity, a repetition gets the same, and the next transaction is written with it. No
second marker is written. Two partitions, and another producer's transaction open on one of them.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.coordinator_rules import END_KNOWS_NO_REPETITION, REPETITION_GETS_THE_OLD_EPOCH
from harness.contract.checks.feature_checks import FEATURE
from harness.contract.checks.timing import in_time
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint, Liar, Release
from harness.contract.requirement import Feature
from harness.lab import Lab
from harness.lab.powers.timeouts import TIMEOUT_MS, timed_out

FENCED, STALE = KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH


def stimulus(lab: Lab) -> None:
    """A transaction over two partitions times out; it is aborted twice, and the next one commits."""
    first, second, other = lab.partition("P1"), lab.partition("P2"), lab.producer("rival", protocol=2)
    txn = timed_out(lab, first, second, protocol=2)
    other.produce(second, as_="other write")
    epoch = txn.epoch
    txn.produce(first, as_="late write")
    for _ in range(2):
        txn.end(commit=False, epoch=epoch, version=5, as_="overdue abort")
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
    for partition in (first, second):
        txn.produce(partition, as_="next write")
    txn.end(commit=True, as_="next end")
    other.end(commit=True, as_="other end")


def check(seen: Evidence) -> Observations:
    """Accepted with the bumped identity each time; the next transaction goes on from there."""
    yield expect.refused(seen["late write"], STALE, code=Level.SHOULD, otherwise="late-write-accepted")
    for abort in seen.all("overdue abort"):
        own, epoch = abort.request_int("producer_id"), abort.request_int("producer_epoch")
        yield expect.accepted(abort, otherwise="overdue-abort-refused")
        if abort.error == 0:
            yield expect.identity(abort, own, epoch + 1)
    yield expect.over(seen["kept"])
    yield expect.unchanged(seen["timed out"], seen["kept"], "state", "producer_epoch", otherwise="epoch-changed")
    in_time(seen.all("next write")[0], seen["next end"], timeout_ms=TIMEOUT_MS)
    for mine in (*seen.all("next write"), seen["next end"]):
        yield expect.accepted(mine, otherwise="bumped-epoch-refused")
    for alias in ("P1", "P2"):
        committed = expect.values(seen, "other write", "next write", at=alias)
        yield from expect.sound(seen, alias, committed=committed)
    own = seen["next end"].request_int("producer_id")
    markers = [marker.control for marker in seen.log("P1").markers() if marker.producer_id == own]
    yield expect.agree("own markers in P1", markers, ["ABORT", "COMMIT"], otherwise="wrong-markers")


GOOD = adopted(__file__, "KIP588-RECOVER-03")
_UNENDED = GOOD.with_step("kept", state="Ongoing")

REQUIREMENT = Requirement(
    id="KIP588-RECOVER-03",
    source=Source(588, "Proposed Changes: the end transaction call is protected as well"),
    statement="Aborting after a timeout on the server succeeds for new clients.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12), Feature(FEATURE, 2)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("late-write-accepted", GOOD.with_step("late write", error=0)),
        Refusal("wrong-error", GOOD.with_step("late write", error=FENCED)),
        Refusal("unanswered", GOOD.with_step("late write", error=None)),
        Refusal("overdue-abort-refused", GOOD.with_step("overdue abort", error=FENCED)),
        Refusal("wrong-identity-returned", GOOD.with_step("overdue abort", producer_epoch=0)),
        Refusal(
            "transaction-not-over", GOOD.with_step("kept", state="Ongoing").with_step("timed out", state="Ongoing")
        ),
        Refusal("epoch-changed", GOOD.with_step("kept", producer_epoch=2)),
        Refusal("bumped-epoch-refused", GOOD.with_step("next end", error=FENCED)),
        Refusal("wrong-markers", GOOD.with_log("P1", batches=GOOD.log().batches[:-1])),
        *unsound(GOOD, "P2", appended=None),
    ),
    refuted_by=(
        Release(version="4.0.0", anomaly="overdue-abort-refused"),
        Failpoint(rules=END_KNOWS_NO_REPETITION, anomaly="overdue-abort-refused"),
        Failpoint(rules=REPETITION_GETS_THE_OLD_EPOCH, anomaly="wrong-identity-returned"),
        Liar(api="EndTxn", error=KafkaError.INVALID_TXN_STATE, skip=2, at_most=1, anomaly="bumped-epoch-refused"),
    ),
)
