"""KIP664-WTM-07: an operator's abort of one partition of a live transaction ends it there and nowhere else.

KIP-664 lets an administrator abort by partition and does not ask the coordinator; the tool is to find out first whether
the transaction hangs. Where it does not, the transaction is torn: the client's commit is still taken, the other
partitions are committed whole, and what the operator aborted stays hidden. That the coordinator also writes its own
marker to the aborted partition, without effect, is Kafka's way. The next transaction must not suffer.
"""

from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import ABORT_MARKER_ENDS_NOTHING, NO_FIRST_UNSTABLE_OFFSET
from harness.contract.byteman.marker_rules import COMMIT_MARKER_ENDS_NOTHING, MARKERS_COMMIT
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab

TORN, WHOLE = "P1", "P2"


def stimulus(lab: Lab) -> None:
    """A live transaction over two partitions; an abort marker to one; the client's commit; another transaction."""
    torn, whole, txn = lab.partition(TORN), lab.partition(WHOLE), lab.producer()
    txn.add(torn, whole)
    for partition in (torn, whole):
        txn.produce(partition, as_="write")
    generation = lab.coordinator_epoch(txn) or 0
    lab.write_marker(
        torn, producer_id=txn.producer_id, epoch=txn.epoch, commit=False, coordinator_epoch=generation, as_="marker"
    )
    for partition in (torn, whole):
        lab.sample(f"after marker, {partition.alias}", partition)
    txn.end(commit=True, as_="end")
    lab.reached(txn, "CompleteCommit", "Empty", as_="ended")
    txn.add(torn, whole)
    for partition in (torn, whole):
        txn.produce(partition, as_="next write")
    txn.end(commit=True, as_="next end")
    lab.settled()


def check(seen: Evidence) -> Observations:
    """Over on the one, open on the other; then committed there; all of the next transaction is shown on both."""
    marker = seen["marker"]
    yield expect.accepted(marker, otherwise="marker-refused")
    yield expect.stable(seen.sample(f"after marker, {TORN}"), marker, otherwise="lso-not-moved")
    yield expect.unstable(seen.sample(f"after marker, {WHOLE}"), marker, otherwise="other-partition-ended")
    for end in (seen["end"], seen["next end"]):
        yield expect.accepted(end, otherwise="end-refused")
    yield expect.over(seen["ended"], otherwise="coordinator-hindered")
    for alias in (TORN, WHOLE):
        first, later = (
            [value for write in expect.writes(seen, alias, name) for value in write.written()]
            for name in ("write", "next write")
        )
        committed = [*(first if alias == WHOLE else ()), *later]
        yield from expect.sound(seen, alias, [*first, *later], committed=committed)
    kinds = (("ABORT",), ("COMMIT",), ("COMMIT",))
    yield expect.habit(expect.marks(seen, TORN, *kinds))


GOOD = adopted(__file__, "KIP664-WTM-07")

REQUIREMENT = Requirement(
    id="KIP664-WTM-07",
    source=Source(664, "Recovery"),
    statement="An operator's abort of one partition of a live transaction leaves its other partitions to the client.",
    needs=(Offers("WriteTxnMarkers", 1),),
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("marker-refused", GOOD.with_step("marker", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("lso-not-moved", GOOD.with_sample(f"after marker, {TORN}", last_stable_offset=0)),
        Refusal("other-partition-ended", GOOD.with_sample(f"after marker, {WHOLE}", last_stable_offset=1)),
        Refusal("end-refused", GOOD.with_step("next end", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("coordinator-hindered", GOOD.with_step("ended", state="PrepareCommit")),
        Refusal("wrong-markers", GOOD.with_log(TORN, batches=GOOD.log(TORN).batches[:-1])),
        *unsound(GOOD, WHOLE),
    ),
    refuted_by=(
        Failpoint(rules=ABORT_MARKER_ENDS_NOTHING, anomaly="lso-not-moved"),
        Failpoint(rules=COMMIT_MARKER_ENDS_NOTHING, anomaly="stuck-lso"),
        Failpoint(rules=MARKERS_COMMIT, anomaly="wrong-records-shown"),
        Failpoint(rules=NO_FIRST_UNSTABLE_OFFSET, anomaly="other-partition-ended"),
    ),
)
