"""KIP664-WTM-03: an operator's marker whose epoch is not exactly the producer's is refused.

"We require the producer epoch in the request to exactly match the latest value. This ensures that the transaction
coordinator remains the only one that can bump the epoch of a transactional producer. So we couldn't hit a case where
the epoch in some partition's state got ahead of the coordinator which might cause worse failures" (KIP-664). The marker
carries coordinator epoch -1, by which the KIP tells an operator's from a coordinator's, whose epoch may well be higher.

The worse failure is looked for too: the coordinator must still be able to end the transaction. Kafka does not compare
with operators' epochs: the leader takes a higher one for its own, and refuses the coordinator's marker ever after.
"""

from harness.base.json_value import Json
from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import ABORT_MARKER_ENDS_NOTHING
from harness.contract.byteman.marker_rules import MARKERS_WRITTEN_IN_EPOCH_1
from harness.contract.doctored import abort, data, described, evidence, known_producer, log, sample, step, unsound
from harness.contract.refuters import BASELINE, Failpoint, Liar, Release
from harness.evidence.requirement_evidence import NotSeen, Step
from harness.lab import Lab

STALE = KafkaError.INVALID_PRODUCER_EPOCH
CASES = {"P1": -1, "P2": 1}
"""By how much the marker's epoch is off, by partition."""


def stimulus(lab: Lab) -> None:
    """A transaction in epoch 1 over two partitions; markers of another epoch on each, the exact one on the first."""
    partitions, txn = [lab.partition(alias) for alias in CASES], lab.producer()
    txn.init()
    txn.add(*partitions)
    for partition, off in zip(partitions, CASES.values(), strict=True):
        name = partition.alias
        txn.produce(partition, as_=f"write to {name}")
        lab.sample(f"before {name}", partition)
        marker = {"producer_id": txn.producer_id, "coordinator_epoch": -1}
        lab.write_marker(partition, **marker, epoch=txn.epoch + off, commit=False, as_=f"marker off by {off}")
        lab.sample(f"after {name}", partition)
        lab.observer.producers(partition, as_=f"kept on {name}")
    lab.write_marker(partitions[0], **marker, epoch=txn.epoch, commit=False, as_="exact marker")
    lab.sample("after the exact one", partitions[0])
    txn.end(commit=False, as_="end")
    lab.reached(txn, "CompleteAbort", "Empty", as_="ended")


def check(seen: Evidence) -> Observations:
    """Refused on both sides, without a change; the exact one is taken; then the coordinator ends the transaction."""
    for alias, off in CASES.items():
        write, marker, before = seen[f"write to {alias}"], seen[f"marker off by {off}"], seen.sample(f"before {alias}")
        if before.last_stable_offset >= before.high_watermark:
            raise NotSeen("no transaction was open")
        own, epoch = write.request_int("producer_id"), write.request_int("producer_epoch")
        anomaly = "older-epoch-taken" if off < 0 else "newer-epoch-taken"
        yield expect.refused(marker, STALE, otherwise=anomaly)
        yield expect.unstable(seen.sample(f"after {alias}"), marker, otherwise="transaction-ended")
        kept = expect.producer(seen[f"kept on {alias}"], own, producer_epoch=epoch, otherwise="epoch-moved")
        yield kept
    exact = seen["exact marker"]
    yield expect.accepted(exact, otherwise="exact-epoch-refused")
    yield expect.stable(seen.sample("after the exact one"), exact, otherwise="lso-not-moved")
    yield expect.accepted(seen["end"], otherwise="end-refused")
    yield expect.over(seen["ended"], otherwise="transaction-never-ends")
    for alias in CASES:
        yield from expect.sound(seen, alias, seen[f"write to {alias}"].written(), committed=())


def _write(alias: str) -> Step:
    request: dict[str, Json] = {"producer_id": 7, "producer_epoch": 1, "values": ["a"], "partitions": [alias]}
    return step(f"write to {alias}", "Produce", 9, request=request)


GOOD = evidence(
    *map(_write, CASES),
    *(step(f"marker off by {off}", "WriteTxnMarkers", 1, error=STALE) for off in CASES.values()),
    *(known_producer(f"kept on {alias}", epoch=1, since=0) for alias in CASES),
    step("exact marker", "WriteTxnMarkers", 1),
    step("end", "EndTxn", 4),
    described("ended", "CompleteAbort", epoch=1),
    logs={"P1": log(data(7, 1, "a"), abort(7, 1), abort(7, 1)), "P2": log(data(7, 1, "a"), abort(7, 1))},
    samples=(
        *(sample(f"{when} {alias}", alias, 1, 0) for alias in CASES for when in ("before", "after")),
        sample("after the exact one", "P1", 2, 2),
    ),
)

REQUIREMENT = Requirement(
    id="KIP664-WTM-03",
    source=Source(664, "Recovery: the producer epoch must exactly match the latest value"),
    statement="An operator's marker in an older or newer epoch than the producer's is refused and changes nothing.",
    needs=(Offers("WriteTxnMarkers", 1),),
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("older-epoch-taken", GOOD.with_step("marker off by -1", error=0)),
        Refusal("newer-epoch-taken", GOOD.with_step("marker off by 1", error=0)),
        Refusal("wrong-error", GOOD.with_step("marker off by 1", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step("marker off by -1", error=None)),
        Refusal("transaction-ended", GOOD.with_sample("after P2", last_stable_offset=1)),
        Refusal("epoch-moved", GOOD.with_step("kept on P2", fields=known_producer("", epoch=2, since=0).fields)),
        Refusal("exact-epoch-refused", GOOD.with_step("exact marker", error=STALE)),
        Refusal("lso-not-moved", GOOD.with_sample("after the exact one", last_stable_offset=0)),
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.PRODUCER_FENCED)),
        Refusal("transaction-never-ends", GOOD.with_step("ended", state="PrepareAbort")),
        *unsound(GOOD, "P2"),
    ),
    refuted_by=(
        Release(version=BASELINE, anomaly="newer-epoch-taken"),
        Release(version=BASELINE, anomaly="transaction-never-ends"),
        Failpoint(rules=MARKERS_WRITTEN_IN_EPOCH_1, anomaly="older-epoch-taken"),
        Failpoint(rules=ABORT_MARKER_ENDS_NOTHING, anomaly="lso-not-moved"),
        Failpoint(rules=MARKERS_WRITTEN_IN_EPOCH_1, anomaly="transaction-ended"),
        Release(version=BASELINE, anomaly="epoch-moved"),
        Liar(api="WriteTxnMarkers", error=KafkaError.INVALID_REQUEST, skip=2, at_most=1, anomaly="exact-epoch-refused"),
    ),
)
