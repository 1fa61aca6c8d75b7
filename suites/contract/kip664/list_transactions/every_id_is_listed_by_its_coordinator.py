"""KIP664-LT-01: the brokers' lists together name every transactional id, at its coordinator, with its state.

Six states are brought about: four first, everywhere; then PrepareCommit and PrepareAbort, kept by holding the link on
which a coordinator sends its markers. Dead is a state of removal and is never listed. The KIP promises the ids "which
have pending transactions" with their producer id, told apart from the others by their state; it names ``Ongoing`` and
``PrepareCommit``. The other names, ids without a transaction, and that no other broker lists an id are Kafka's.
"""

from dataclasses import replace

from harness.base.json_value import Json
from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    TransactionResult,
    expect,
)
from harness.contract.byteman.coordinator_rules import PREPARING_IDS_NOT_LISTED
from harness.contract.doctored import ended, evidence, sample, step
from harness.contract.refuters import Failpoint, Liar, Unrefuted
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab, Producer

OPEN = ("Ongoing", "PrepareCommit", "PrepareAbort")
STATES = (*OPEN, "Empty", "CompleteCommit", "CompleteAbort")
LISTS = (("list", "ids"), ("list while held", "held ids"))


def stimulus(lab: Lab) -> None:
    """An id in each state, listed while its transaction is open or over; then those whose markers are held."""
    txns = {state: lab.producer() for state in ("Empty", "CompleteCommit", "CompleteAbort", "Ongoing")}
    partition = lab.partition("P2")
    for result in TransactionResult:
        txns[result.completed].write(partition)
        txns[result.completed].end(commit=result.commits)
        lab.completed(partition)
        lab.reached(txns[result.completed], result.completed, "Empty", as_="reached")
    txns["Ongoing"].write(partition)
    listed(lab, txns, *LISTS[0])
    txns["Ongoing"].end(commit=True)
    commits = lab.producer()
    slow = lab.partition("P1", leader=lab.another_broker(commits.coordinator))
    lab.link(commits.coordinator, slow.leader)  # where there is none, nothing need be opened
    aborts = lab.producer(coordinator=commits.coordinator)
    for txn in (commits, aborts):
        txn.write(slow)
    with lab.preparing(commits, slow, commit=True, name="hold markers"):
        aborts.end(commit=False, as_="end")
        listed(lab, {"PrepareCommit": commits, "PrepareAbort": aborts}, *LISTS[1])


def listed(lab: Lab, txns: dict[str, Producer], name: str, fact: str) -> None:
    """The ids with their states, and every broker's list."""
    lab.note(fact, [_id(txn.transactional_id, txn.producer_id, state, txn.coordinator) for state, txn in txns.items()])
    for broker in lab.cluster.topology.brokers:
        lab.observer.transactions(broker, as_=name)


def _id(transactional_id: str, producer_id: int, state: str, node: int = 1) -> dict[str, Json]:
    return {"transactional_id": transactional_id, "producer_id": producer_id, "state": state, "node": node}


def check(seen: Evidence) -> Observations:
    """Each id in the list of its coordinator and in no other, with its producer id and state; no other state's name."""
    for name, fact in LISTS:
        if fact == "held ids":
            expect.prepared(seen, "hold markers")
        yield from complete(seen, name, fact)
    for end in seen.all("end"):
        yield expect.accepted(end, otherwise="end-refused")


def complete(seen: Evidence, name: str, fact: str) -> Observations:
    """The ids of this fact in the lists of this name."""
    lists = seen.all(name)
    for answer in lists:
        yield expect.accepted(answer, otherwise="list-refused")
    rows = [{**row, "node": answer.node} for answer in lists for row in expect.rows(answer, "transactions")]
    ids = seen.fact(fact)
    for kept in (one for one in (ids if isinstance(ids, list) else ()) if isinstance(one, dict)):
        own = [row for row in rows if row.get("transactional_id") == kept["transactional_id"]]
        yield from listed_well(kept, own, lists)
    strange = sorted({str(row.get("state")) for row in rows} - set(STATES))
    yield expect.habit(expect.agree("unknown states", strange, [], *lists, otherwise="unknown-state"))


def listed_well(kept: dict[str, Json], rows: list[dict[str, Json]], lists: tuple[Step, ...]) -> Observations:
    """Where, with which producer id and in which state the id's rows are."""
    name, promised = f"the id in {kept['state']}", kept["state"]
    home = [row for row in rows if row["node"] == kept["node"]]
    pending = Level.MUST if promised in OPEN else Level.SHOULD
    there = expect.unless(bool(home), f"its coordinator lists {name}", *lists, otherwise="id-not-listed")
    yield expect.habit(there, pending)
    for row in home[:1]:
        nodes, producer_id, state = [one["node"] for one in rows], row.get("producer_id"), row.get("state")
        alone = expect.agree(f"brokers that list {name}", nodes, [kept["node"]], *lists, otherwise="listed-by-another")
        yield expect.habit(alone)
        what = f"producer id of {name}"
        yield expect.agree(what, producer_id, kept["producer_id"], *lists, otherwise="wrong-producer-id")
        confused = Level.MUST if (state in OPEN) != (promised in OPEN) else Level.SHOULD
        yield expect.habit(expect.agree(f"state of {name}", state, promised, *lists, otherwise="wrong-state"), confused)


def _list(*ids: tuple[str, int, str], name: str = "list", node: int = 1) -> Step:
    return step(name, "ListTransactions", 0, node=node, transactions=[_id(*one) for one in ids])


_EMPTY, _OPEN, _HELD = ("a", 7, "Empty"), ("b", 8, "Ongoing"), _list(("c", 9, "PrepareAbort"), name="list while held")
_FACTS: dict[str, Json] = {"ids": [_id(*_EMPTY), _id(*_OPEN)], "held ids": [_id("c", 9, "PrepareAbort")]}


def lists(*calm: Step) -> Evidence:
    """A sound run, but for these lists in calm."""
    held = sample("hold markers", "P1", 1, 0)
    good = evidence(*calm, ended(version=4), _HELD, samples=(held,), held=("hold markers",))
    return replace(good, facts=_FACTS)


GOOD = lists(_list(_EMPTY, _OPEN))

REQUIREMENT = Requirement(
    id="KIP664-LT-01",
    source=Source(664, "ListTransactions"),
    statement="Each broker lists the transactional ids that it coordinates, with producer id and the state's name.",
    needs=(Offers("ListTransactions", 0),),
    order=Order.HOLDS_LINKS,
    access=(Access.LINKS, Access.BROKERS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("list-refused", GOOD.with_step("list", error=KafkaError.COORDINATOR_LOAD_IN_PROGRESS)),
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("id-not-listed", lists(_list(_OPEN))),
        Refusal("id-not-listed", lists(_list(_EMPTY), _list(_OPEN, node=2))),
        Refusal("id-not-listed", GOOD.with_step("list while held", transactions=[])),
        Refusal("listed-by-another", lists(_list(_EMPTY, _OPEN), _list(_EMPTY, node=2))),
        Refusal("wrong-producer-id", lists(_list(("a", 9, "Empty"), _OPEN))),
        Refusal("wrong-state", lists(_list(("a", 7, "Ongoing"), _OPEN))),
        Refusal("wrong-state", lists(_list(("a", 7, "CompleteAbort"), _OPEN))),
        Refusal("unknown-state", lists(_list(_EMPTY, _OPEN, ("d", 9, "Dead")))),
    ),
    refuted_by=(
        Failpoint(rules=PREPARING_IDS_NOT_LISTED, anomaly="id-not-listed"),
        Liar(api="ListTransactions", fields={"transaction_state": "Strange"}, anomaly="unknown-state"),
        Unrefuted(
            anomaly="listed-by-another",
            reason="a failpoint that loads what another broker leads leaves it in the list for all that comes after",
        ),
    ),
)
