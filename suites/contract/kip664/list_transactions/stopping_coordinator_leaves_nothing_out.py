"""KIP664-LT-06: a broker that is shutting down says so, or gives no answer, rather than a list with ids left out.

The KIP's code is COORDINATOR_NOT_AVAILABLE. Kafka stops its request handlers before its coordinator
(``BrokerServer.shutdown``), so that its clients see closed connections, which is as good. That the broker coordinates
the id at the moment of a list is known from two requests around it; before its end it hands the id over.
"""

from dataclasses import replace

from harness.base.json_value import Json
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
from harness.contract.byteman.coordinator_rules import LIST_IS_EMPTY
from harness.contract.doctored import commit, data, ended, evidence, log, step, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.evidence.requirement_evidence import Fault
from harness.lab import Lab
from harness.wire.requests.transactions.list_transactions import ListTransactions
from suites.contract.kip664.coordinators_in_transition import (
    AFTER,
    BEFORE,
    LOADING,
    LOOK,
    STOPPING,
    begin,
    lists_the_id,
    rounds_of,
    stopping,
)

ALLOWED = (0, None, STOPPING, LOADING)


def stimulus(lab: Lab) -> None:
    """An open transaction, whose coordinator is asked while it is shut down; when it is back, the commit."""
    txn = begin(lab)
    stopping(lab, txn, ListTransactions())
    txn.end(commit=True, as_="end")


def check(seen: Evidence) -> Observations:
    """Each list is whole, refused as not available, or unanswered; the broker did end, and the transaction goes on."""
    seen.fault("stopping")
    rounds = list(rounds_of(seen))
    in_charge = [listed for before, listed, after in rounds if before.error == listed.error == after.error == 0]
    if not in_charge or all(listed.error is not None for _, listed, _ in rounds):
        raise NotSeen("the coordinator gave no list before it began to end, or did not end")
    for listed in in_charge:
        yield expect.unless(lists_the_id(seen, listed), "the list has the id", listed, otherwise="id-left-out")
    for _, listed, _ in rounds:
        what = f"the answer {listed.error} is a list or says that there is no coordinator"
        yield expect.unless(listed.error in ALLOWED, what, listed, otherwise="wrong-error")
    for going_on in (seen["write"], seen["end"]):
        yield expect.accepted(going_on, otherwise="transaction-lost")
    yield from expect.sound(seen, "P1", seen["write"].written())


_ROW: Json = {"transactional_id": "t", "producer_id": 7, "state": "Ongoing"}
GOOD = evidence(
    written("write", 11, "a"),
    *(step(name, "AddPartitionsToTxn", 3) for name in (BEFORE, AFTER)),
    step(LOOK, "ListTransactions", 0, transactions=[_ROW]),
    *(step(name, "AddPartitionsToTxn", 3, error=None) for name in (BEFORE, AFTER)),
    step(LOOK, "ListTransactions", 0, error=None),
    ended(version=4),
    faults=(Fault(name="stopping", kind="stop", where="broker-1", started=0, ended=1),),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0))},
    id="t",
)


def _refused(error: int) -> Evidence:
    """As if there were one more list, refused with this error."""
    more = [replace(GOOD.all(name)[1], error=error) for name in (BEFORE, LOOK, AFTER)]
    return replace(GOOD, steps=(*GOOD.steps, *more))


REQUIREMENT = Requirement(
    id="KIP664-LT-06",
    source=Source(664, "ListTransactions: COORDINATOR_NOT_AVAILABLE"),
    statement="A broker that is shutting down never gives a list in which an id of its own is left out.",
    needs=(Offers("ListTransactions", 0),),
    order=Order.HURTS_CLUSTER,
    access=(Access.NODES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("id-left-out", GOOD.with_nth_step(LOOK, 0, transactions=[])),
        Refusal("wrong-error", _refused(KafkaError.UNKNOWN_SERVER_ERROR)),
        Refusal("transaction-lost", GOOD.with_step("write", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("transaction-lost", GOOD.with_step("end", error=KafkaError.INVALID_TXN_STATE)),
        *unsound(GOOD),
    ),
    refuted_by=(
        Failpoint(rules=LIST_IS_EMPTY, anomaly="id-left-out"),
        Liar(api="EndTxn", error=KafkaError.INVALID_TXN_STATE, at_most=1, anomaly="transaction-lost"),
    ),
)
