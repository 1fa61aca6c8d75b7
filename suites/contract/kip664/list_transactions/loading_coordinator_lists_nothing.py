"""KIP664-LT-05: a broker that still loads what it coordinates says so instead of giving a list with ids left out.

An operator would take an id that is left out for one without a transaction. A long transaction log makes the loading
last; that the broker is loading at the moment of the list is known from two requests around it. The code
COORDINATOR_LOAD_IN_PROGRESS is the KIP's.
"""

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
from harness.contract.byteman.coordinator_rules import PARTIAL_LIST_WHILE_LOADING
from harness.contract.byteman.looks_rules import LISTS_NEVER_LOADED
from harness.contract.doctored import evidence, step
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import Fault
from harness.lab import Lab
from harness.wire.requests.transactions.list_transactions import ListTransactions
from suites.contract.kip664.coordinators_in_transition import (
    AFTER,
    BEFORE,
    LOADING,
    LOOK,
    begin,
    lists_the_id,
    loading,
    rounds_of,
)
from suites.contract.wishes import LONG_STATE_LOG


def stimulus(lab: Lab) -> None:
    """Asked from its election until it has loaded."""
    txn = begin(lab)
    loading(lab, txn, ListTransactions())
    txn.end(commit=True)


def check(seen: Evidence) -> Observations:
    """While it loads, the list is refused as such; at the end it has the id."""
    seen.fault("loading")
    rounds = list(rounds_of(seen))
    meanwhile = [listed for before, listed, after in rounds if before.error == after.error == LOADING]
    if not meanwhile:
        raise NotSeen("the coordinator was never asked while it was loading")
    for listed in meanwhile:
        yield expect.refused(listed, LOADING, otherwise="partial-list")
    _, listed, after = rounds[-1]
    yield expect.accepted(after, otherwise="never-loaded")
    yield expect.accepted(listed, otherwise="never-loaded")
    yield expect.unless(lists_the_id(seen, listed), "the list has the id", listed, otherwise="id-left-out")


_ROW: Json = {"transactional_id": "t", "producer_id": 7, "state": "Ongoing"}
GOOD = evidence(
    *(step(name, "AddPartitionsToTxn", 3, error=LOADING) for name in (BEFORE, AFTER)),
    step(LOOK, "ListTransactions", 0, error=LOADING),
    *(step(name, "AddPartitionsToTxn", 3) for name in (BEFORE, AFTER)),
    step(LOOK, "ListTransactions", 0, transactions=[_ROW]),
    faults=(Fault(name="loading", kind="move", where="broker 1 → broker 2", started=0, ended=1),),
    id="t",
    producer=7,
)


REQUIREMENT = Requirement(
    id="KIP664-LT-05",
    source=Source(664, "ListTransactions: COORDINATOR_LOAD_IN_PROGRESS"),
    statement="A broker that is loading a part of what it coordinates says so and lists nothing.",
    needs=(Offers("ListTransactions", 0),),
    order=Order.CHANGES_SETTINGS,
    access=(Access.BROKERS, Access.CHANGES),
    cluster=LONG_STATE_LOG,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("partial-list", GOOD.with_nth_step(LOOK, 0, error=0)),
        Refusal("wrong-error", GOOD.with_nth_step(LOOK, 0, error=KafkaError.COORDINATOR_NOT_AVAILABLE)),
        Refusal("unanswered", GOOD.with_nth_step(LOOK, 0, error=None)),
        Refusal("never-loaded", GOOD.with_nth_step(AFTER, 1, error=LOADING)),
        Refusal("never-loaded", GOOD.with_nth_step(LOOK, 1, error=LOADING)),
        Refusal("id-left-out", GOOD.with_nth_step(LOOK, 1, transactions=[])),
    ),
    refuted_by=(
        Failpoint(rules=PARTIAL_LIST_WHILE_LOADING, anomaly="partial-list"),
        Failpoint(rules=LISTS_NEVER_LOADED, anomaly="never-loaded"),
    ),
)
