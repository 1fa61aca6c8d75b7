"""KIP664-DT-07: a request without ids is answered with none, and the empty id is refused.

"The API does not provide a way to list the states of all TransactionalIds on a given broker" (KIP-664): no ids means
none, not all. What is answered to the empty id the KIP does not say; that it is no transaction follows from what an id
is, and the code INVALID_REQUEST is Kafka's. An id beside it is answered all the same.
"""

from harness.base.json_value import Json
from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.looks_rules import EMPTY_ID_DESCRIBED, NO_IDS_DESCRIBES_ONE, ONE_FOREIGN_ID_FAILS_ALL
from harness.contract.doctored import adopted
from harness.contract.refuters import Failpoint
from harness.lab import Lab

INVALID = KafkaError.INVALID_REQUEST


def stimulus(lab: Lab) -> None:
    """The coordinator of an id is asked about nothing, and about the id together with the empty one."""
    txn = lab.producer()
    lab.note("id", txn.transactional_id)
    lab.looks.transactions(txn.coordinator, as_="none")
    lab.looks.transactions(txn.coordinator, "", txn.transactional_id, as_="empty and known")


def check(seen: Evidence) -> Observations:
    """No answer to no question; the empty id refused, the known one described."""
    none, both = seen["none"], seen["empty and known"]
    yield expect.accepted(none, otherwise="empty-request-refused")
    yield expect.shows(none, answers=0, transactions={}, otherwise="described-unasked")
    yield expect.refused(both.of(""), INVALID, code=Level.SHOULD, otherwise="empty-id-described")
    yield expect.accepted(both.of(str(seen.fact("id"))), otherwise="known-id-refused")


GOOD = adopted(__file__, "KIP664-DT-07")
_ID = str(GOOD.fact("id"))


def both(empty: Json, known: Json = 0) -> Evidence:
    """A sound run, but for these answers."""
    return GOOD.with_step("empty and known", transactions={"": empty, _ID: known})


REQUIREMENT = Requirement(
    id="KIP664-DT-07",
    source=Source(664, "DescribeTransactions: the array of transactional IDs"),
    statement="A request without transactional ids describes none; the empty id is refused.",
    needs=(Offers("DescribeTransactions", 0),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("empty-request-refused", GOOD.with_step("none", error=INVALID)),
        Refusal("described-unasked", GOOD.with_step("none", answers=1, transactions={_ID: 0})),
        Refusal("empty-id-described", both(0)),
        Refusal("wrong-error", both(KafkaError.TRANSACTIONAL_ID_NOT_FOUND)),
        Refusal("unanswered", both(None)),
        Refusal("known-id-refused", both(INVALID, known=INVALID)),
    ),
    refuted_by=(
        Failpoint(rules=EMPTY_ID_DESCRIBED, anomaly="empty-id-described"),
        Failpoint(rules=NO_IDS_DESCRIBES_ONE, anomaly="described-unasked"),
        Failpoint(rules=ONE_FOREIGN_ID_FAILS_ALL, anomaly="known-id-refused"),
        Failpoint(rules=NO_IDS_DESCRIBES_ONE, anomaly="empty-request-refused"),
    ),
)
