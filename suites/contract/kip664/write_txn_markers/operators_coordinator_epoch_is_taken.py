"""KIP664-WTM-04: an operator's marker has coordinator epoch -1: it is taken, and stands in no coordinator's way.

"Markers written from the AdminClient will set coordinator_epoch in the request to -1. This avoids race conditions with
concurrent requests from existing coordinators and gives us the ability to tell that the source of the marker was the
AdminClient" (KIP-664). Tried on a partition where the producer never had a marker and on one where it had; then the
coordinator ends the same transaction with its own. Kafka gives -1 no meaning
(``ProducerAppendInfo.checkCoordinatorEpoch``): where a coordinator wrote before, the operator is refused as an older
one, and its tools send the coordinator's own epoch.
"""

from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import ABORT_MARKER_ENDS_NOTHING
from harness.contract.byteman.marker_writing_rules import REPEATED_MARKER_REFUSED
from harness.contract.doctored import abort, commit, data, described, evidence, log, sample, step, unsound, written
from harness.contract.refuters import BASELINE, Failpoint, Release
from harness.evidence.requirement_evidence import NotSeen
from harness.lab import Lab

OPERATOR = -1
FRESH, KNOWN = "P1", "P2"


def stimulus(lab: Lab) -> None:
    """A committed transaction on one of two partitions; then one over both, which an operator ends on each with -1."""
    fresh, known = lab.partition(FRESH), lab.partition(KNOWN)
    txn = lab.producer()
    txn.add(known)
    txn.produce(known, as_="committed write")
    txn.end(commit=True)
    lab.reached(txn, "CompleteCommit", "Empty", as_="committed")
    txn.add(fresh, known)
    for partition in (fresh, known):
        alias = partition.alias
        txn.produce(partition, as_="aborted write")
        lab.sample(f"before {alias}", partition)
        lab.write_marker(
            partition,
            producer_id=txn.producer_id,
            epoch=txn.epoch,
            commit=False,
            coordinator_epoch=OPERATOR,
            as_=f"marker to {alias}",
        )
        lab.sample(f"after {alias}", partition)
    txn.end(commit=False, as_="end")
    lab.reached(txn, "CompleteAbort", "Empty", as_="ended")


def check(seen: Evidence) -> Observations:
    """Taken on both; the transaction is over there; the coordinator's own end is not hindered."""
    for alias in (FRESH, KNOWN):
        marker, before = seen[f"marker to {alias}"], seen.sample(f"before {alias}")
        if before.last_stable_offset >= before.high_watermark:
            raise NotSeen("no transaction was open")
        yield expect.accepted(marker, otherwise="operator-refused")
        yield expect.stable(seen.sample(f"after {alias}"), marker, otherwise="lso-not-moved")
        shown = [value for write in expect.writes(seen, alias, "committed write") for value in write.written()]
        hidden = [value for write in expect.writes(seen, alias, "aborted write") for value in write.written()]
        yield from expect.sound(seen, alias, [*shown, *hidden], committed=shown)
    yield expect.accepted(seen["end"], otherwise="end-refused")
    yield expect.over(seen["ended"], otherwise="coordinator-hindered")


GOOD = evidence(
    written("committed write", 9, "a", to=KNOWN),
    *(written("aborted write", 9, "b", to=alias) for alias in (FRESH, KNOWN)),
    *(step(f"marker to {alias}", "WriteTxnMarkers", 1) for alias in (FRESH, KNOWN)),
    step("end", "EndTxn", 4),
    described("ended", "CompleteAbort"),
    logs={
        FRESH: log(data(7, 0, "b"), abort(7, 0, coordinator_epoch=OPERATOR), abort(7, 0)),
        KNOWN: log(
            data(7, 0, "a"), commit(7, 0), data(7, 0, "b"), abort(7, 0, coordinator_epoch=OPERATOR), abort(7, 0)
        ),
    },
    samples=tuple(
        sample(f"{when} {p}", p, 3, lso) for p in (FRESH, KNOWN) for when, lso in (("before", 2), ("after", 3))
    ),
)

REQUIREMENT = Requirement(
    id="KIP664-WTM-04",
    source=Source(664, "Recovery: coordinator_epoch -1"),
    statement="An operator's marker with coordinator epoch -1 is taken, and the coordinator can still write its own.",
    needs=(Offers("WriteTxnMarkers", 1),),
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("operator-refused", GOOD.with_step("marker to P2", error=KafkaError.TRANSACTION_COORDINATOR_FENCED)),
        Refusal("lso-not-moved", GOOD.with_sample("after P1", last_stable_offset=2)),
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.PRODUCER_FENCED)),
        Refusal("coordinator-hindered", GOOD.with_step("ended", state="PrepareAbort")),
        *unsound(GOOD, KNOWN),
    ),
    refuted_by=(
        Release(version=BASELINE, anomaly="operator-refused"),
        Failpoint(rules=ABORT_MARKER_ENDS_NOTHING, anomaly="lso-not-moved"),
        Failpoint(rules=REPEATED_MARKER_REFUSED, anomaly="coordinator-hindered"),
    ),
)
