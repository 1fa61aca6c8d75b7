"""KIP890-SAFE-03: an EndTxn that is delayed, or sent twice, never ends a later transaction of its producer.

The gate on the lane to the coordinator keeps an EndTxn and ends the client's connection in its place, so that it asks
again, as clients do; or sends it on twice. The client goes on to its next transaction, and the request that was kept is
delivered while that is open. The old protocol does not survive it (KAFKA-17754). That nothing happens is the KIP's.
Whether the delivered request was answered, and with which error, the gate has seen; its client has long gone.
"""

from dataclasses import replace
from itertools import product

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
from harness.contract.byteman.coordinator_rules import DELAYED_END_TAKEN_FOR_CURRENT
from harness.contract.byteman.marker_rules import MARKERS_ABORT
from harness.contract.byteman.transaction_metadata_rules import END_WITHOUT_BUMP
from harness.contract.doctored import (
    abort,
    commit,
    data,
    ended,
    evidence,
    gate,
    log,
    marker,
    sample,
    strike,
    unsound,
    written,
)
from harness.contract.refuters import Failpoint, Liar
from harness.lab import GateAction, Lab

FENCED = KafkaError.PRODUCER_FENCED
ACTIONS: dict[str, GateAction] = {"delayed": "hold", "twice": "repeat"}


def stimulus(lab: Lab) -> None:
    """Transaction 1 with a mishap to its end, then transaction 2; what was kept arrives before 2 ends."""
    for result, (mishap, action) in product(TransactionResult, ACTIONS.items()):
        case, txn = f"{result.noun}-{mishap}", lab.producer(protocol=2)
        partition, lane = lab.partition(case), txn.lane_to(txn.coordinator)
        txn.produce(partition, as_=f"write of 1 {case}")
        with lab.gate(lane, api="EndTxn", action=action, name=case, hang_up=action == "hold") as gated:
            if action == "hold":
                kept = txn.start_end(commit=result.commits)
                gated.wait()
                kept.answer(as_=f"kept {case}")
            txn.end(commit=result.commits, as_=f"end of 1 {case}")
            gated.wait()
            lab.completed(partition)
            txn.produce(partition, as_=f"write of 2 {case}")
            gated.release()
            lab.sample(f"open {case}", partition)
        txn.produce(partition, as_=f"more of 2 {case}")
        txn.end(commit=True, as_=f"end of 2 {case}")


def check(seen: Evidence) -> Observations:
    """Transaction 2 stays open when the old end arrives, and ends whole by its own; its client never notices."""
    for case in seen.logs:
        (kept,) = expect.gated(seen, case).strikes
        write, write_2, more = (seen[f"{name} {case}"] for name in ("write of 1", "write of 2", "more of 2"))
        end, end_2 = seen[f"end of 1 {case}"], seen[f"end of 2 {case}"]
        for step in (end, write_2, more, end_2):
            yield expect.accepted(step, otherwise="own-request-refused")
        if case.endswith("delayed"):
            yield expect.unless(kept.error != 0, f"the delayed {end.api} was refused", otherwise="delayed-end-accepted")
        yield expect.unstable(seen.sample(f"open {case}"), write_2, otherwise="transaction-2-ended")
        second = (*write_2.written(), *more.written())
        shown = (*write.written(), *second) if end.request["committed"] else second
        own = (*write.written(), *second)
        yield from expect.sound(seen, case, own, committed=shown, shown="wrong-transaction-shown")
        result = TransactionResult.COMMIT if end.request["committed"] else TransactionResult.ABORT
        yield expect.marks(seen, case, (result.marker,), ("COMMIT",))


def untouched(result: TransactionResult, mishap: str) -> Evidence:
    """Two transactions; the end of the first came again within the second, and was refused."""
    case = f"{result.noun}-{mishap}"
    kept = strike("EndTxn", 5, error=FENCED if mishap == "delayed" else 0)
    return evidence(
        written(f"write of 1 {case}", 12, "a", to=case),
        ended(f"end of 1 {case}", committed=result.commits),
        written(f"write of 2 {case}", 12, "b", base_offset=2, to=case),
        written(f"more of 2 {case}", 12, "c", base_offset=3, to=case),
        ended(f"end of 2 {case}", epoch=1),
        logs={case: log(data(7, 0, "a"), marker(result, 1), data(7, 1, "b"), data(7, 1, "c"), commit(7, 2))},
        faults=(gate(case, ACTIONS[mishap], kept, where="lane-victim-1"),),
        samples=(sample(f"open {case}", case, 3, 2),),
    )


ACCEPTED = tuple(untouched(result, mishap) for result, mishap in product(TransactionResult, ACTIONS))
GOOD, CASE = ACCEPTED[0], "commit-delayed"
_TAKEN = gate(CASE, "hold", strike("EndTxn", 5, error=0), where="lane-victim-1")
_TORN = log(data(7, 0, "a"), commit(7, 1), data(7, 1, "b"), abort(7, 1), data(7, 1, "c"), commit(7, 2))

REQUIREMENT = Requirement(
    id="KIP890-SAFE-03",
    source=Source(890, "Motivation"),
    statement="An EndTxn that is delayed or repeated never ends a later transaction of its producer.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    access=(Access.LANES,),
    stimulus=stimulus,
    check=check,
    accepts=ACCEPTED,
    refuses=(
        Refusal("own-request-refused", GOOD.with_step(f"end of 1 {CASE}", error=FENCED)),
        Refusal("own-request-refused", GOOD.with_step(f"write of 2 {CASE}", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("own-request-refused", GOOD.with_step(f"more of 2 {CASE}", error=KafkaError.INVALID_PRODUCER_EPOCH)),
        Refusal("own-request-refused", GOOD.with_step(f"end of 2 {CASE}", error=FENCED)),
        Refusal("delayed-end-accepted", replace(GOOD, faults=(_TAKEN,))),
        Refusal("transaction-2-ended", GOOD.with_sample(f"open {CASE}", last_stable_offset=3)),
        Refusal("wrong-markers", GOOD.with_log(CASE, _TORN, committed=("a", "b", "c"))),
        *unsound(GOOD, CASE, shown="wrong-transaction-shown"),
    ),
    refuted_by=(
        Failpoint(rules=END_WITHOUT_BUMP, anomaly="transaction-2-ended"),
        Failpoint(rules=DELAYED_END_TAKEN_FOR_CURRENT, anomaly="delayed-end-accepted"),
        Liar(api="Produce", instead_of=0, skip=1, error=48, anomaly="own-request-refused"),
        Failpoint(rules=MARKERS_ABORT, anomaly="wrong-transaction-shown"),
    ),
)
