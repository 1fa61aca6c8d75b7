"""KIP664-DT-05: a broker that does not coordinate an id says so, and describes those that it does in the same answer.

A broker that answered "not found" or "empty" for an id of another one would make its transaction look like a hanging
one. Two ids of two coordinators, each with an open transaction; both brokers are asked about both.
"""

from harness.base.json_value import Json
from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.looks_rules import (
    FOREIGN_IDS_DESCRIBED,
    FOREIGN_IDS_NOT_FOUND,
    ONE_FOREIGN_ID_FAILS_ALL,
    told_without,
)
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab

NOT_HERE = KafkaError.NOT_COORDINATOR
ASKED = ("first", "second")


def stimulus(lab: Lab) -> None:
    """A transaction each of two coordinators is open on a partition; both coordinators are asked about both."""
    partition, first = lab.partition("P1"), lab.producer("victim")
    second = lab.producer("rival", coordinator=lab.another_broker(first.coordinator))
    for name, txn in zip(ASKED, (first, second), strict=True):
        txn.write(partition)
        lab.note(name, [txn.transactional_id, txn.producer_id])
    for name, txn in zip(ASKED, (first, second), strict=True):
        ids = first.transactional_id, second.transactional_id
        lab.looks.transactions(txn.coordinator, *ids, as_=f"coordinator of the {name}")
    for txn in (first, second):
        txn.end(commit=True)
    lab.completed()


def check(seen: Evidence) -> Observations:
    """Each describes its own, with the producer's id and what is open, and refuses the other one."""
    for name, other in (ASKED, ASKED[::-1]):
        look = seen[f"coordinator of the {name}"]
        own, foreign = look.of(_id(seen, name)), look.of(_id(seen, other))
        fact = seen.fact(name)
        yield expect.accepted(own, otherwise="own-id-refused")
        promised = {"state": "Ongoing", "producer_id": fact[1] if isinstance(fact, list) else None}
        yield expect.shows(own, partitions=["P1"], **promised, otherwise="wrong-description")
        yield expect.refused(foreign, NOT_HERE, otherwise="foreign-id-described")
    yield from expect.sound(seen, shown="committed-record-lost")


def _id(seen: Evidence, name: str) -> str:
    fact = seen.fact(name)
    return str(fact[0]) if isinstance(fact, list) else ""


GOOD = adopted(__file__, "KIP664-DT-05")
_LOOK = "coordinator of the second"


def answered(name: str, part: Json) -> Evidence:
    """A sound run, but for what the coordinator of the second id said of one."""
    known = GOOD[_LOOK].fields["transactions"]
    return GOOD.with_step(_LOOK, transactions={**(known if isinstance(known, dict) else {}), _id(GOOD, name): part})


_OWN = dict(GOOD[_LOOK].of(_id(GOOD, "second")).fields)

REQUIREMENT = Requirement(
    id="KIP664-DT-05",
    source=Source(664, "DescribeTransactions: possible error codes"),
    statement="A broker that does not coordinate an id answers NOT_COORDINATOR for it alone.",
    needs=(Offers("DescribeTransactions", 0),),
    access=(Access.BROKERS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("own-id-refused", answered("second", {**_OWN, "error": NOT_HERE})),
        Refusal("wrong-description", answered("second", {**_OWN, "partitions": []})),
        Refusal("wrong-description", answered("second", {**_OWN, "state": "Empty"})),
        Refusal("foreign-id-described", answered("first", {"error": 0})),
        Refusal("wrong-error", answered("first", KafkaError.TRANSACTIONAL_ID_NOT_FOUND)),
        Refusal("unanswered", answered("first", None)),
        *unsound(GOOD, appended=None, shown="committed-record-lost"),
    ),
    refuted_by=(
        Failpoint(rules=FOREIGN_IDS_NOT_FOUND, anomaly="wrong-error"),
        Failpoint(rules=ONE_FOREIGN_ID_FAILS_ALL, anomaly="own-id-refused"),
        Failpoint(rules=FOREIGN_IDS_DESCRIBED, anomaly="foreign-id-described"),
        Failpoint(rules=told_without("TransactionState", '"Empty"'), anomaly="wrong-description"),
    ),
)
