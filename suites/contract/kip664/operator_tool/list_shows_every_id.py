"""KIP664-TOOL-02: ``list`` shows the transactional ids of all coordinators, each with its coordinator, id and state.

The KIP has a broker as a filter, which the tool never got. What later releases filter by instead, how long a
transaction is open (KIP-994) and a pattern of the id (KIP-1152), is asked for where brokers offer it; what they make of
ids with nothing open is not the tool's affair. That all ids are
listed with these values is the KIP's promise; its form, filters and states other than ``Ongoing`` are Kafka's.
"""

from harness.base.json_value import Json
from harness.contract import Access, Evidence, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.looks_rules import VALID_PATTERN_REFUSED
from harness.contract.byteman.tool_rules import (
    NO_PATTERN_PASSED_ON,
    OPEN_TRANSACTIONS_NOT_PRINTED,
    WRONG_PRODUCER_LISTED,
    WRONG_STATE_LISTED,
)
from harness.contract.doctored import commit, data, evidence, log, unsound
from harness.contract.refuters import Failpoint
from harness.contract.tools.tool_words import ran, rows
from harness.lab import Lab

HOUR_MS = 3_600_000


def stimulus(lab: Lab) -> None:
    """An id with an open transaction and one without, of each broker; ``list``, and where offered its two filters."""
    partition, expected = lab.partition("P1"), list[Json]()
    txns = [lab.producer(coordinator=broker) for broker in lab.cluster.topology.brokers for _ in range(2)]
    for txn in txns[::2]:
        txn.write(partition)
    for at, txn in enumerate(txns):
        state = "Empty" if at % 2 else "Ongoing"
        expected.append([txn.transactional_id, str(txn.coordinator), str(txn.producer_id), state])
    lab.note("expected", expected)
    runs = {"list": lab.start_operator("list")}
    if lab.offered("ListTransactions", (1,)):
        runs["long"] = lab.start_operator("list", "--duration-filter", HOUR_MS)
    if lab.offered("ListTransactions", (2,)):
        runs["pattern"] = lab.start_operator("list", "--transactional-id-pattern", f".*{txns[0].transactional_id[-8:]}")
    for name, running in runs.items():
        running.answer(as_=name)
    for txn in txns[::2]:
        txn.end(commit=True)


def check(seen: Evidence) -> Observations:
    """Every id is listed once, with its coordinator, producer id and state; filters leave out the others."""
    expected, listed = _expected(seen), seen["list"]
    yield expect.accepted(listed, otherwise="list-refused")
    for transactional_id, *cells, state in expected:
        own = rows(listed, TransactionalId=transactional_id)
        found = [(row["Coordinator"], row["ProducerId"]) for row in own]
        yield expect.agree(f"row of {transactional_id}", found, [tuple(cells)], listed, otherwise="wrong-row")
        states = [row["TransactionState"] for row in own]
        shown = expect.agree(f"state of {transactional_id}", states, [state], listed, otherwise="wrong-state")
        yield shown if state == "Ongoing" else expect.habit(shown)
    yield from expect.sound(seen)
    for name, kept in (("long", []), ("pattern", [expected[0][0]])):
        for step in expect.taken(seen, name):
            yield expect.habit(expect.accepted(step, otherwise="filter-refused"))
            open_ids = [one[0] for one in expected if rows(step, TransactionalId=one[0]) and one[-1] == "Ongoing"]
            yield expect.habit(expect.agree(f"open ids of {name}", open_ids, kept, step, otherwise="filter-ignored"))


def _expected(seen: Evidence) -> list[tuple[str, ...]]:
    noted = seen.fact("expected")
    return [tuple(map(str, row)) for row in (noted if isinstance(noted, list) else ()) if isinstance(row, list)]


def _listed(name: str, *cells: tuple[str, ...]) -> Evidence:
    headings = ("TransactionalId", "Coordinator", "ProducerId", "TransactionState")
    return evidence(ran(name, rows=tuple(dict(zip(headings, row, strict=True)) for row in cells)))


_OPEN, _IDLE, _OTHER = ("a", "1", "7", "Ongoing"), ("b", "1", "8", "Empty"), ("z", "2", "9", "CompleteCommit")
_LISTS = (_listed("list", _OTHER, _OPEN, _IDLE), _listed("long", _OTHER), _listed("pattern", _OPEN))
_LOGS = {"P1": log(data(7, 0, "a"), commit(7, 0))}
GOOD = evidence(*(step for one in _LISTS for step in one.steps), logs=_LOGS, expected=[[*_OPEN], [*_IDLE]])


def _with(name: str, *cells: tuple[str, ...]) -> Evidence:
    return GOOD.with_step(name, fields=_listed(name, *cells).steps[0].fields)


REQUIREMENT = Requirement(
    id="KIP664-TOOL-02",
    source=Source(664, "Listing Transactions"),
    statement="kafka-transactions.sh list shows the ids of all coordinators with producer id and state.",
    needs=(Offers("ListTransactions", 0),),
    access=(Access.TOOL,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, GOOD.without_step("long").without_step("pattern")),
    refuses=(
        Refusal("list-refused", GOOD.with_step("list", error=1)),
        Refusal("wrong-row", _with("list", _IDLE, _OTHER, ("a", "2", "7", "Ongoing"))),
        Refusal("wrong-row", _with("list", _IDLE, _OTHER, ("a", "1", "8", "Ongoing"))),
        Refusal("wrong-state", _with("list", ("a", "1", "7", "Empty"), _IDLE)),
        Refusal("wrong-state", _with("list", _OPEN, ("b", "1", "8", "Ongoing"))),
        Refusal("filter-refused", GOOD.with_step("long", error=1)),
        Refusal("filter-ignored", _with("long", _OPEN)),
        Refusal("filter-ignored", _with("pattern", _IDLE)),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=OPEN_TRANSACTIONS_NOT_PRINTED, anomaly="wrong-row"),
        Failpoint(rules=WRONG_STATE_LISTED, anomaly="wrong-state"),
        Failpoint(rules=WRONG_PRODUCER_LISTED, anomaly="wrong-row"),
        Failpoint(rules=NO_PATTERN_PASSED_ON, anomaly="filter-ignored"),
        Failpoint(rules=VALID_PATTERN_REFUSED, anomaly="filter-refused"),
    ),
)
