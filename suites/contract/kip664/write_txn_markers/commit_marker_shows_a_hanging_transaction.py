"""KIP664-WTM-08: the request itself can commit: an administrator's COMMIT marker makes a hanging transaction visible.

KIP-664 does "not provide an option to commit a transaction" in its tool and AdminClient; the request keeps its field
``TransactionResult``, which coordinators commit with, and Kafka does not ask who sends it. No KIP promises it to
administrators, so it is a habit (SHOULD). Another hanging transaction behind it is aborted, and must stay hidden.
"""

from harness.base.unprepared import OutOfReach
from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    TransactionResult,
    expect,
)
from harness.contract.byteman.marker_rules import COMMIT_MARKER_ENDS_NOTHING, MARKERS_ABORT, MARKERS_REFUSED
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import VERIFICATION, Failpoint
from harness.evidence.requirement_evidence import NotSeen
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """Two transactions hang on one partition, one behind the other; one is committed and one aborted by a marker."""
    partition = lab.partition("P1")
    txns = {result: lab.producer() for result in TransactionResult}
    with lab.admin.unverified():
        hanging = [txn.produce(partition, version=9, as_=f"hanging {result.noun}") for result, txn in txns.items()]
    if any(write.error for write in hanging) and lab.admin.config(partition.leader, VERIFICATION) is None:
        raise OutOfReach("no transaction can be made to hang")
    lab.sample("hanging", partition)
    for result, txn in txns.items():
        own, epoch = txn.producer_id, txn.epoch
        lab.write_marker(partition, producer_id=own, epoch=epoch, commit=result.commits, as_=f"{result.noun} marker")
        lab.sample(f"after {result.noun}", partition)


def check(seen: Evidence) -> Observations:
    """Both markers are taken; the one's record is shown, the other's is not."""
    held = seen.sample("hanging")
    writes = {result: seen[f"hanging {result.noun}"] for result in TransactionResult}
    if any(write.error for write in writes.values()) or held.last_stable_offset >= held.high_watermark:
        raise NotSeen("no transaction could be made to hang")
    for result in TransactionResult:
        yield expect.accepted(seen[f"{result.noun} marker"], otherwise="marker-refused")
    second = writes[TransactionResult.ABORT].answer_int("base_offset")
    stopped = seen.sample("after commit").last_stable_offset
    yield expect.agree("LSO after commit", stopped, second, seen["commit marker"], otherwise="lso-not-moved")
    yield expect.stable(seen.sample("after abort"), otherwise="lso-not-moved")
    committed, aborted = (writes[result].written() for result in TransactionResult)
    yield from expect.sound(seen, values=[*committed, *aborted], committed=committed)


GOOD = adopted(__file__, "KIP664-WTM-08")

REQUIREMENT = Requirement(
    id="KIP664-WTM-08",
    source=Source(664, "WriteTxnMarkers: TransactionResult"),
    statement="A COMMIT marker of an administrator ends a hanging transaction and shows its records.",
    needs=(Offers("WriteTxnMarkers", 1),),
    level=Level.SHOULD,
    order=Order.CHANGES_SETTINGS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("marker-refused", GOOD.with_step("commit marker", error=KafkaError.INVALID_REQUEST)),
        Refusal("lso-not-moved", GOOD.with_sample("after commit", last_stable_offset=0)),
        Refusal("lso-not-moved", GOOD.with_sample("after abort", last_stable_offset=1)),
        *unsound(GOOD),
    ),
    refuted_by=(
        Failpoint(rules=COMMIT_MARKER_ENDS_NOTHING, anomaly="lso-not-moved"),
        Failpoint(rules=MARKERS_ABORT, anomaly="wrong-records-shown"),
        Failpoint(rules=MARKERS_REFUSED, anomaly="marker-refused"),
    ),
)
