"""KIP664-DT-08: a coordinator that loads, or shuts down, says of an id that it cannot tell, or tells it as it is.

An operator who were told TRANSACTIONAL_ID_NOT_FOUND of an open transaction would give it up. The KIP's codes are
COORDINATOR_LOAD_IN_PROGRESS and COORDINATOR_NOT_AVAILABLE; a broker that is not, or no longer, the coordinator answers
NOT_COORDINATOR, and one that has closed its connections nothing. A long transaction log makes the loading last.
"""

from dataclasses import replace

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    NotSeen,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.coordinator_rules import DESCRIBED_WHILE_LOADING, UNKNOWN_WHILE_LOADING
from harness.contract.doctored import commit, data, evidence, log, step, unsound, written
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import Fault, Step
from harness.lab import Lab
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions
from suites.contract.kip664.coordinators_in_transition import (
    AFTER,
    BEFORE,
    LOADING,
    LOOK,
    begin,
    described_rightly,
    loading,
    rounds_of,
    stopping,
)
from suites.contract.wishes import LONG_STATE_LOG


def stimulus(lab: Lab) -> None:
    """Asked while the next coordinator loads, and while the first one, which has it again, shuts down."""
    txn = begin(lab)
    look = DescribeTransactions(transactional_id=txn.transactional_id)
    loading(lab, txn, look)
    stopping(lab, txn, look)
    txn.end(commit=True, as_="end")


def check(seen: Evidence) -> Observations:
    """Every answer is right or says that the broker cannot tell; the transaction is still there at the end."""
    for name in ("loading", "stopping"):
        seen.fault(name)
    rounds = list(rounds_of(seen))
    meanwhile = [look for before, look, after in rounds if before.error == after.error == LOADING]
    if not meanwhile or all(look.error is not None for _, look, _ in rounds):
        raise NotSeen("the coordinator was not asked both while it was loading and until it had ended")
    for look in meanwhile:
        yield expect.refused(look, LOADING, otherwise="described-while-loading")
    for _, look, _ in rounds:
        right, what = described_rightly(seen, look), f"the answer {look.error} is right"
        yield expect.unless(right, what, look, otherwise="wrong-answer-in-transition")
    for going_on in (seen["write"], seen["end"]):
        yield expect.accepted(going_on, otherwise="transaction-lost")
    yield from expect.sound(seen, "P1", seen["write"].written())


def _round(error: int | None) -> tuple[Step, ...]:
    before = step(BEFORE, "AddPartitionsToTxn", 3, error=error)
    look = step(LOOK, "DescribeTransactions", 0, error=error, state="Ongoing", producer_id=7)
    return before, look, replace(before, name=AFTER)


GOOD = evidence(
    *_round(LOADING),
    *_round(0),
    *_round(KafkaError.NOT_COORDINATOR),
    *_round(None),
    written("write", 11, "a"),
    step("end", "EndTxn", 4),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0))},
    faults=tuple(Fault(name=name, kind="move", where="", started=0, ended=1) for name in ("loading", "stopping")),
    id="t",
    producer=7,
)


REQUIREMENT = Requirement(
    id="KIP664-DT-08",
    source=Source(664, "DescribeTransactions: COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE"),
    statement="A coordinator that is loading or shutting down describes an id as it is, or says that it cannot.",
    needs=(Offers("DescribeTransactions", 0),),
    order=Order.HURTS_CLUSTER,
    access=(Access.NODES, Access.BROKERS, Access.CHANGES),
    cluster=LONG_STATE_LOG,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("described-while-loading", GOOD.with_nth_step(LOOK, 0, error=0)),
        Refusal("wrong-answer-in-transition", GOOD.with_nth_step(LOOK, 1, error=KafkaError.TRANSACTIONAL_ID_NOT_FOUND)),
        Refusal("wrong-answer-in-transition", GOOD.with_nth_step(LOOK, 1, state="Empty")),
        Refusal("wrong-answer-in-transition", GOOD.with_nth_step(LOOK, 1, producer_id=8)),
        Refusal("unanswered", GOOD.with_nth_step(LOOK, 0, error=None)),
        Refusal("transaction-lost", GOOD.with_step("write", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("transaction-lost", GOOD.with_step("end", error=KafkaError.INVALID_PRODUCER_ID_MAPPING)),
        *unsound(GOOD),
    ),
    refuted_by=(
        Failpoint(rules=UNKNOWN_WHILE_LOADING, anomaly="wrong-answer-in-transition"),
        Failpoint(rules=DESCRIBED_WHILE_LOADING, anomaly="described-while-loading"),
    ),
)
