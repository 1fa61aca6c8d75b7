"""KIP890-SAFE-05: with new clients, producer id and epoch name one transaction, in every log.

Three producers take turns in a drawn order over three partitions: records, commits and aborts, transactions that are
open side by side, and ends whose answer is lost, so that their clients ask again. Then the logs are read by themselves:
between two markers of a producer its records have one epoch, the marker has the next one ("Bump Epoch on Each
Transaction for New Clients"), no epoch comes again after its marker, and a transaction ends alike everywhere.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    TransactionResult,
    expect,
)
from harness.contract.byteman.marker_rules import EVERY_OTHER_COMMIT_MARKER_ABORTS
from harness.contract.byteman.transaction_metadata_rules import END_WITHOUT_BUMP
from harness.contract.doctored import abort, commit, data, ended, evidence, gate, log, strike, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.evidence.requirement_evidence import Batch
from harness.lab import Lab, Producer

TRANSACTIONS = 24
LOST_EVERY = 6
PARTITIONS = ("P1", "P2", "P3")


def stimulus(lab: Lab) -> None:
    """A transaction after the other by drawn producers, each left open while the next producer writes."""
    partitions = [lab.partition(name) for name in PARTITIONS]
    producers = [lab.producer(lane, protocol=2) for lane in ("victim", "rival", "victim")]
    opened: list[Producer] = []
    for number in range(TRANSACTIONS):
        txn = lab.draw.choice([one for one in producers if one not in opened])
        for partition in lab.draw.sample(partitions, lab.draw.randint(1, len(partitions))):
            for _ in range(lab.draw.randint(1, 3)):
                txn.produce(partition, as_="write")
        opened.append(txn)
        if len(opened) > 1:
            _end(lab, opened.pop(0), answer_lost=number % LOST_EVERY == 0)
    _end(lab, opened.pop(), answer_lost=False)


def _end(lab: Lab, txn: Producer, *, answer_lost: bool) -> None:
    """Commit or abort; where the answer is lost, once more."""
    result, lane = lab.draw.choice(list(TransactionResult)), txn.lane_to(txn.coordinator)
    if answer_lost:
        with lab.gate(lane, api="EndTxn", action="drop-response", name="lost", hang_up=True):
            txn.start_end(commit=result.commits).answer(as_="lost end")
    txn.end(commit=result.commits, as_="end")


def check(seen: Evidence) -> Observations:
    """Every request is taken; in each log, and in all logs together, an epoch belongs to one transaction."""
    expect.gated(seen, "lost")
    for step in (*seen.all("write"), *seen.all("end")):
        yield expect.accepted(step, otherwise="own-request-refused")
    ends = [(end.request_int("producer_id"), end.request_int("producer_epoch"), end) for end in seen.all("end")]
    committed = {(producer_id, epoch) for producer_id, epoch, end in ends if end.request["committed"]}
    results: dict[tuple[int, int], set[str]] = defaultdict(set)
    for alias in PARTITIONS:
        drained, known, off, again = seen.log(alias), set[tuple[int, int]](), list[int](), list[int]()
        for marker, epochs in _transactions(drained.batches):
            off += [epoch for epoch in epochs if epoch + 1 != marker.producer_epoch]
            again += [epoch for epoch in epochs if (marker.producer_id, epoch) in known]
            known |= {(marker.producer_id, epoch) for epoch in epochs}
            for epoch in epochs:
                results[marker.producer_id, epoch].add(str(marker.control))
        yield expect.agree(f"epochs in {alias} with a wrong marker", off, [], otherwise="wrong-marker-epoch")
        yield expect.agree(f"epochs of two transactions in {alias}", again, [], otherwise="epoch-in-two-transactions")
        records = [batch for batch in drained.batches if batch.control is None]
        shown = [v for one in records if (one.producer_id, one.producer_epoch) in committed for v in one.values]
        yield from expect.sound(seen, alias, committed=shown, shown="wrong-transaction-shown")
    torn = [name for name, kinds in results.items() if len(kinds) > 1]
    yield expect.agree("transactions that ended otherwise in another partition", torn, [], otherwise="torn-transaction")


def _transactions(batches: Sequence[Batch]) -> Iterator[tuple[Batch, list[int]]]:
    """Each marker, and the epochs of the records that it ends."""
    opened: dict[int, set[int]] = defaultdict(set)
    for batch in batches:
        if batch.control is not None:
            yield batch, sorted(opened.pop(batch.producer_id, set()))
        else:
            opened[batch.producer_id].add(batch.producer_epoch)


_FIRST = log(data(7, 0, "a"), commit(7, 1), data(7, 1, "b"), abort(7, 2))
_SECOND = log(data(7, 0, "c"), data(8, 4, "d"), commit(7, 1), commit(8, 5))
GOOD = evidence(
    written("write", 12, "a"),
    ended(),
    ended(epoch=1, committed=False),
    ended(epoch=4, producer_id=8),
    logs={"P1": _FIRST, "P2": _SECOND, "P3": log()},
    faults=(gate("lost", "drop-response", strike("EndTxn", 5), where="lane-victim-1"),),
)
_AGAIN = log(data(7, 0, "a"), commit(7, 1), data(7, 0, "b"), commit(7, 1))
_TORN = log(data(7, 0, "c"), data(8, 4, "d"), abort(7, 1), commit(8, 5))

REQUIREMENT = Requirement(
    id="KIP890-SAFE-05",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="With new clients, a producer id and epoch belong to one transaction in every log.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    access=(Access.LANES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("own-request-refused", GOOD.with_step("write", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("own-request-refused", GOOD.with_step("end", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("wrong-marker-epoch", GOOD.with_log("P1", log(data(7, 0, "a"), commit(7, 0)))),
        Refusal("epoch-in-two-transactions", GOOD.with_log("P1", _AGAIN, committed=("a", "b"))),
        Refusal("torn-transaction", GOOD.with_log("P2", _TORN, committed=("c", "d"))),
        *unsound(GOOD, "P1", appended=None, shown="wrong-transaction-shown"),
    ),
    refuted_by=(
        Failpoint(rules=END_WITHOUT_BUMP, anomaly="wrong-marker-epoch"),
        Failpoint(rules=END_WITHOUT_BUMP, anomaly="epoch-in-two-transactions"),
        Liar(api="EndTxn", instead_of=0, skip=6, error=KafkaError.INVALID_TXN_STATE, anomaly="own-request-refused"),
        Failpoint(rules=EVERY_OTHER_COMMIT_MARKER_ABORTS, anomaly="torn-transaction"),
    ),
)
