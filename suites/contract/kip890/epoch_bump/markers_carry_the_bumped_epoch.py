"""KIP890-BUMP-03: the markers of a transaction carry the next epoch, which fences its late records at every leader.

Two data partitions and the offsets partition of a group, where offsets are kept in a topic; one transaction commits,
another aborts. The epoch of the markers, and that leaders take it over, is the KIP's promise; the marker's coordinator
epoch, and how a leader shows that sequences start anew, is as Kafka does it.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.coordinator_rules import MARKERS_IN_THE_LAST_EPOCH
from harness.contract.byteman.leader_rules import DATA_WRITTEN_IN_EPOCH_1, NO_EPOCH_CHECK, SEQUENCES_KEPT_ACROSS_EPOCHS
from harness.contract.byteman.marker_rules import FIRST_MARKER_TOLD_AS_LATE, MARKERS_ABORT
from harness.contract.doctored import abort, adopted, commit, data, log, producer_row, unsound
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import Batch, Step
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """Each transaction writes to both partitions and commits an offset, then ends."""
    first, second, group = lab.partition("P1"), lab.partition("P2"), lab.group()
    shown = [partition for partition in (first, second, group.offsets) if partition.known]
    for result in Result:
        txn = lab.producer(protocol=2)
        for partition in (first, second):
            txn.produce(partition, as_=f"write before {result.noun}")
        txn.commit_offset(group, first, 1)
        txn.end(commit=result.commits, as_="end")
        lab.reached(txn, result.completed, as_="kept")
        lab.note(f"coordinator epoch of {txn.producer_id}", lab.coordinator_epoch(txn))
        for partition in shown:
            lab.observer.producers(partition, as_=f"producers of {partition.alias} after {txn.producer_id}")


def check(seen: Evidence) -> Observations:
    """One marker a partition, of the right type and coordinator, in the next epoch; leaders' state starts anew."""
    for end in seen.all("end"):
        yield expect.accepted(end, otherwise="end-refused")
        for alias in ("P1", "P2", *(["offsets"] if "offsets" in seen.logs else [])):
            yield from _in_log(seen, end, alias)
            yield from _at_leader(seen, end, alias)
    for alias in ("P1", "P2"):
        yield from expect.sound(seen, alias, committed=expect.values(seen, "write before commit", at=alias))


def _in_log(seen: Evidence, end: Step, alias: str) -> Observations:
    own, epoch = end.request_int("producer_id"), end.request_int("producer_epoch")
    kind, coordinator = Result.of(end.request["committed"]).marker, _coordinator_epoch(seen, own)
    batches = [batch for batch in seen.log(alias).batches if batch.producer_id == own]
    markers = [batch for batch in batches if batch.control]
    yield expect.agree(f"markers in {alias}", len(markers), 1, end, otherwise="not-one-marker")
    for marker in markers:
        at, by = marker.producer_epoch, marker.coordinator_epoch
        generation = expect.agree(f"coordinator epoch in {alias}", by, coordinator, otherwise="wrong-coordinator-epoch")
        yield expect.agree(f"marker's type in {alias}", marker.control, kind, end, otherwise="wrong-marker-type")
        yield expect.agree(f"marker's epoch in {alias}", at, epoch + 1, end, otherwise="wrong-marker-epoch")
        if coordinator is not None:
            yield expect.habit(generation)
    epochs = {batch.producer_epoch for batch in batches if not batch.control}
    yield expect.agree(f"data's epochs in {alias}", epochs, {epoch}, end, otherwise="data-in-another-epoch")


def _at_leader(seen: Evidence, end: Step, alias: str) -> Observations:
    own, epoch = end.request_int("producer_id"), end.request_int("producer_epoch") + 1
    leader, coordinator = seen[f"producers of {alias} after {own}"], _coordinator_epoch(seen, own)
    kept = expect.row(leader, "producers", producer_id=own)
    renewed = expect.fenced(leader, own, epoch, otherwise="leader-state-not-renewed")
    yield renewed if kept else expect.habit(renewed)  # KIP-664 has active producers described; Kafka describes all
    if kept:
        yield expect.habit(expect.producer(leader, own, otherwise="leader-state-not-renewed", last_sequence=-1))
    if kept and coordinator is not None:
        same = expect.producer(leader, own, otherwise="wrong-coordinator-epoch", coordinator_epoch=coordinator)
        yield expect.habit(same)


def _coordinator_epoch(seen: Evidence, producer_id: int) -> int | None:
    """The coordinator's generation, where its transactions are kept in a topic."""
    found = seen.facts.get(f"coordinator epoch of {producer_id}")
    return found if isinstance(found, int) else None


def _logged(alias: str, *first: Batch) -> Evidence:
    """Doctored: one log with these batches of the first producer."""
    truth = log(*first, data(8, 0, "b"), abort(8, 1))
    end = truth.high_watermark
    return GOOD.with_log(alias, truth, committed=GOOD.log(alias).committed, last_stable_offset=end)


GOOD = adopted(__file__, "KIP890-BUMP-03")
STALE, OTHER_COORDINATOR = producer_row(8), producer_row(8, epoch=1, coordinator_epoch=2)
OLD_SEQUENCE = producer_row(8, epoch=1, last_sequence=0)

REQUIREMENT = Requirement(
    id="KIP890-BUMP-03",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="Markers of a transaction ended with EndTxn v5 carry the next epoch, in data and offsets partitions.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12), Offers("TxnOffsetCommit", 5)),
    order=Order.ALONE,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.PRODUCER_FENCED)),
        Refusal("not-one-marker", _logged("offsets", data(7, 0, "a"))),
        Refusal("wrong-marker-type", _logged("P2", data(7, 0, "a"), abort(7, 1))),
        Refusal("wrong-marker-epoch", _logged("offsets", data(7, 0, "a"), commit(7, 0))),
        Refusal("wrong-coordinator-epoch", _logged("P1", data(7, 0, "a"), commit(7, 1, coordinator_epoch=2))),
        Refusal("data-in-another-epoch", _logged("P1", data(7, 1, "a"), commit(7, 1))),
        Refusal("leader-state-not-renewed", GOOD.with_step("producers of P1 after 8", producers=[STALE])),
        Refusal("leader-state-not-renewed", GOOD.with_step("producers of P2 after 8", producers=[OLD_SEQUENCE])),
        Refusal("leader-state-not-renewed", GOOD.with_step("producers of offsets after 8", producers=[])),
        Refusal("wrong-coordinator-epoch", GOOD.with_step("producers of P1 after 8", producers=[OTHER_COORDINATOR])),
        *unsound(GOOD, "P2", appended=None),
    ),
    refuted_by=(
        Failpoint(rules=MARKERS_IN_THE_LAST_EPOCH + NO_EPOCH_CHECK, anomaly="wrong-marker-epoch"),
        Failpoint(rules=SEQUENCES_KEPT_ACROSS_EPOCHS, anomaly="leader-state-not-renewed"),
        Failpoint(rules=FIRST_MARKER_TOLD_AS_LATE, anomaly="not-one-marker"),
        Failpoint(rules=MARKERS_ABORT, anomaly="wrong-marker-type"),
        Failpoint(rules=DATA_WRITTEN_IN_EPOCH_1 + NO_EPOCH_CHECK, anomaly="data-in-another-epoch"),
    ),
)
