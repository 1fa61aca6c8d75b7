"""KIP664-LT-01: the brokers' lists together name every transactional id once, at its coordinator, with its state.

Six states are brought about together; PrepareCommit and PrepareAbort are kept by holding the link on which the
coordinator sends its markers. Dead is a state of removal and is never listed.
"""

from collections.abc import Iterator
from dataclasses import replace

from harness.base.json_value import Json
from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    accepted,
    agree,
    unless,
)
from harness.contract.byteman.coordinator_rules import PREPARING_IDS_NOT_LISTED
from harness.contract.doctored import evidence, held_link, sample, step
from harness.evidence.requirement_evidence import Evidence, NotSeen
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


def check(seen: Evidence) -> Iterator[Observation]:
    """Each id in exactly one list, that of its coordinator, with its producer id and state; no other state's name."""
    seen.fault("hold markers")
    if seen.sample("held").last_stable_offset >= seen.sample("held").high_watermark:
        raise NotSeen("the markers were not held back")
    lists = seen.all("list")
    for answer in lists:
        yield accepted(answer, otherwise="list-refused")
    rows = [(answer.node, row) for answer in lists for row in _rows(answer.fields.get("transactions"))]
    for kept in _rows(seen.fact("ids")):
        name = f"the id in {kept['state']}"
        found = [(node, row) for node, row in rows if row.get("transactional_id") == kept["transactional_id"]]
        yield unless(bool(found), f"{name} is listed", *lists, otherwise="id-not-listed")
        yield unless(len(found) < 2, f"{name} is listed by one broker only", *lists, otherwise="listed-twice")
        for node, row in found[:1]:
            yield agree(f"the broker that lists {name}", node, kept["node"], *lists, otherwise="listed-by-another")
            listed = row.get("producer_id")
            yield agree(f"producer id of {name}", listed, kept["producer_id"], *lists, otherwise="wrong-producer-id")
            yield agree(f"state of {name}", row.get("state"), kept["state"], *lists, otherwise="wrong-state")
    strange = sorted({str(row.get("state")) for _, row in rows} - set(STATES))
    yield agree("unknown states", strange, [], *lists, otherwise="unknown-state")


def _id(transactional_id: str, producer_id: int, state: str, node: int) -> Json:
    return {"transactional_id": transactional_id, "producer_id": producer_id, "state": state, "node": node}


def _rows(transactions: Json) -> list[dict[str, Json]]:
    return [row for row in transactions if isinstance(row, dict)] if isinstance(transactions, list) else []


def _listed(*rows: tuple[str, int, str]) -> list[Json]:
    return [_id(*row, node=1) for row in rows]


GOOD = evidence(
    step("list", "ListTransactions", 0, node=1, transactions=_listed(("a", 7, "Empty"), ("b", 8, "PrepareAbort"))),
    samples=(sample("held", "P1", 1, 0),),
    faults=(held_link("hold markers"),),
    ids=[_id("a", 7, "Empty", 1), _id("b", 8, "PrepareAbort", 1)],
)


def _with(*rows: tuple[str, int, str]) -> Evidence:
    return GOOD.with_step("list", transactions=_listed(*rows, ("b", 8, "PrepareAbort")))


TWICE = step("list", "ListTransactions", 0, node=2, transactions=_listed(("a", 7, "Empty")))

REQUIREMENT = Requirement(
    id="KIP664-LT-01",
    level=Level.MUST,
    source=Source(664, "ListTransactions"),
    statement="Each broker lists the transactional ids that it coordinates, with producer id and the state's name.",
    needs=(Offers("ListTransactions", 0), Offers("DescribeTransactions", 0)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("list-refused", GOOD.with_step("list", error=14)),
        Refusal("id-not-listed", GOOD.with_step("list", transactions=_listed(("b", 8, "PrepareAbort")))),
        Refusal("listed-twice", replace(GOOD, steps=(*GOOD.steps, TWICE))),
        Refusal("listed-by-another", GOOD.with_step("list", node=2)),
        Refusal("wrong-producer-id", _with(("a", 9, "Empty"))),
        Refusal("wrong-state", _with(("a", 7, "Ongoing"))),
        Refusal("unknown-state", _with(("a", 7, "Empty"), ("c", 9, "Dead"))),
    ),
    refuted_by=(Failpoint(rules=PREPARING_IDS_NOT_LISTED, anomaly="id-not-listed"),),
    order=Order.HOLDS_LINKS,
)
