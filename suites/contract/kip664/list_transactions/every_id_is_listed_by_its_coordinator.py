"""KIP664-LT-01: the brokers' lists together name every transactional id once, at its coordinator, with its state.

Six states are brought about together; PrepareCommit and PrepareAbort are kept by holding the link on which the
coordinator sends its markers. Dead is a state of removal and is never listed.
"""

from dataclasses import replace

from harness.base.json_value import Json
from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.coordinator_rules import PREPARING_IDS_NOT_LISTED
from harness.contract.doctored import evidence, sample, step
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import NotSeen, Step
from harness.lab import Lab

STATES = ("Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort")


def stimulus(lab: Lab) -> None:
    """An Empty id at each broker and one in every other state; all are listed while markers to P1 are held."""
    slow, quick = lab.partition("P1"), lab.partition("P2")
    brokers, coordinator = lab.cluster.topology.brokers, lab.producer().coordinator
    txns = {state: lab.producer(coordinator=coordinator) for state in STATES[1:]}
    ids = [("Empty", lab.producer(coordinator=broker)) for broker in brokers] + list(txns.items())
    for state, txn in txns.items():
        txn.write(slow if state.startswith("Prepare") else quick)
    with lab.hold(lab.link(coordinator, slow.leader), name="hold markers"):
        for state, txn in txns.items():
            if state != "Ongoing":
                txn.end(commit=state.endswith("Commit"), as_="end")
                lab.reached(txn, state, as_="reached")
        lab.note("ids", [_id(txn.transactional_id, txn.producer_id, state, txn.coordinator) for state, txn in ids])
        lab.sample("held", slow)
        for broker in brokers:
            lab.observer.transactions(broker, as_="list")
    txns["Ongoing"].end(commit=True)


def _id(transactional_id: str, producer_id: int, state: str, node: int = 1) -> dict[str, Json]:
    return {"transactional_id": transactional_id, "producer_id": producer_id, "state": state, "node": node}


def check(seen: Evidence) -> Observations:
    """Each id in exactly one list, that of its coordinator, with its producer id and state; no other state's name."""
    seen.fault("hold markers")
    if seen.sample("held").last_stable_offset >= seen.sample("held").high_watermark:
        raise NotSeen("the markers were not held back")
    lists = seen.all("list")
    for answer in lists:
        yield expect.accepted(answer, otherwise="list-refused")
    listed = [{**row, "node": answer.node} for answer in lists for row in _rows(answer.fields.get("transactions"))]
    for kept in _rows(seen.fact("ids")):
        name, own = f"the id in {kept['state']}", kept["transactional_id"]
        found = [row for row in listed if row.get("transactional_id") == own]
        yield expect.unless(bool(found), f"{name} is listed", *lists, otherwise="id-not-listed")
        yield expect.unless(len(found) < 2, f"{name} is listed by one broker only", *lists, otherwise="listed-twice")
        for row in found[:1]:
            node, kept_node = row["node"], kept["node"]
            yield expect.agree(f"the broker that lists {name}", node, kept_node, *lists, otherwise="listed-by-another")
            listed_id, kept_id = row.get("producer_id"), kept["producer_id"]
            yield expect.agree(f"producer id of {name}", listed_id, kept_id, *lists, otherwise="wrong-producer-id")
            yield expect.agree(f"state of {name}", row.get("state"), kept["state"], *lists, otherwise="wrong-state")
    strange = sorted({str(row.get("state")) for row in listed} - set(STATES))
    yield expect.agree("unknown states", strange, [], *lists, otherwise="unknown-state")


def _rows(rows: Json) -> list[dict[str, Json]]:
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _list(*ids: tuple[str, int, str], node: int = 1) -> Step:
    return step("list", "ListTransactions", 0, node=node, transactions=[_id(*one) for one in ids])


_EMPTY, _PREPARING = ("a", 7, "Empty"), ("b", 8, "PrepareAbort")
GOOD = evidence(
    _list(_EMPTY, _PREPARING),
    samples=(sample("held", "P1", 1, 0),),
    held=("hold markers",),
    ids=[_id(*_EMPTY), _id(*_PREPARING)],
)

REQUIREMENT = Requirement(
    id="KIP664-LT-01",
    source=Source(664, "ListTransactions"),
    statement="Each broker lists the transactional ids that it coordinates, with producer id and the state's name.",
    needs=(Offers("ListTransactions", 0), Offers("DescribeTransactions", 0)),
    order=Order.HOLDS_LINKS,
    access=(Access.LINKS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("list-refused", GOOD.with_step("list", error=KafkaError.COORDINATOR_LOAD_IN_PROGRESS)),
        Refusal("id-not-listed", replace(GOOD, steps=(_list(_PREPARING),))),
        Refusal("listed-twice", replace(GOOD, steps=(_list(_EMPTY, _PREPARING), _list(_EMPTY, node=2)))),
        Refusal("listed-by-another", replace(GOOD, steps=(_list(_EMPTY, _PREPARING, node=2),))),
        Refusal("wrong-producer-id", replace(GOOD, steps=(_list(("a", 9, "Empty"), _PREPARING),))),
        Refusal("wrong-state", replace(GOOD, steps=(_list(("a", 7, "Ongoing"), _PREPARING),))),
        Refusal("unknown-state", replace(GOOD, steps=(_list(_EMPTY, _PREPARING, ("c", 9, "Dead")),))),
    ),
    refuted_by=(Failpoint(rules=PREPARING_IDS_NOT_LISTED, anomaly="id-not-listed"),),
)
