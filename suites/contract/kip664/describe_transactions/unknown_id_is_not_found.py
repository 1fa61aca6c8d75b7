"""KIP664-DT-04: a transactional id that its coordinator does not know is told as such, and looking does not create it.

TRANSACTIONAL_ID_NOT_FOUND is KIP-664's own new error: find-hanging takes an id that is not found for gone. Asked twice,
together with an id that is known; the coordinator's list must not name it afterwards.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.looks_rules import (
    A_LOOK_CREATES_THE_ID,
    NOTHING_LISTED,
    ONE_FOREIGN_ID_FAILS_ALL,
    UNKNOWN_IDS_DESCRIBED_AS_EMPTY,
)
from harness.contract.doctored import adopted
from harness.contract.refuters import Failpoint
from harness.lab import Lab

NOT_FOUND = KafkaError.TRANSACTIONAL_ID_NOT_FOUND


def stimulus(lab: Lab) -> None:
    """An id that was initialised and one that never was, of one coordinator; both asked about twice, then listed."""
    known = lab.producer()
    unknown = lab.producer("rival", init=False, coordinator=known.coordinator)
    ids = known.transactional_id, unknown.transactional_id
    lab.note("known", ids[0])
    lab.note("unknown", ids[1])
    for _ in range(2):
        lab.looks.transactions(known.coordinator, *ids, as_="described")
    lab.observer.transactions(known.coordinator, as_="listed")


def check(seen: Evidence) -> Observations:
    """The known one is described, the unknown one is not found, before and after it was asked about."""
    known, unknown = str(seen.fact("known")), str(seen.fact("unknown"))
    for look in seen.all("described"):
        yield expect.accepted(look.of(known), otherwise="known-id-refused")
        yield expect.refused(look.of(unknown), NOT_FOUND, otherwise="unknown-id-described")
    listed = [row.get("transactional_id") for row in expect.rows(seen["listed"], "transactions")]
    yield expect.unless(known in listed, "the known id is listed", seen["listed"], otherwise="known-id-not-listed")
    yield expect.unless(unknown not in listed, "the unknown id is not", seen["listed"], otherwise="created-by-a-look")


GOOD = adopted(__file__, "KIP664-DT-04")
_KNOWN, _UNKNOWN = str(GOOD.fact("known")), str(GOOD.fact("unknown"))


def answered(name: str, error: int | None) -> Evidence:
    """A sound run, but for what was said of one id."""
    sound = {_KNOWN: 0, _UNKNOWN: NOT_FOUND}
    return GOOD.with_step("described", transactions={**sound, name: error})


REQUIREMENT = Requirement(
    id="KIP664-DT-04",
    source=Source(664, "DescribeTransactions: possible error codes"),
    statement="The coordinator of an id that it does not know answers TRANSACTIONAL_ID_NOT_FOUND.",
    needs=(Offers("DescribeTransactions", 0), Offers("ListTransactions", 0)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("known-id-refused", answered(_KNOWN, NOT_FOUND)),
        Refusal("unknown-id-described", answered(_UNKNOWN, 0)),
        Refusal("wrong-error", answered(_UNKNOWN, KafkaError.INVALID_REQUEST)),
        Refusal("unanswered", answered(_UNKNOWN, None)),
        Refusal("known-id-not-listed", GOOD.with_step("listed", transactions=[])),
        Refusal(
            "created-by-a-look",
            GOOD.with_step("listed", transactions=[{"transactional_id": each} for each in (_KNOWN, _UNKNOWN)]),
        ),
    ),
    refuted_by=(
        Failpoint(rules=UNKNOWN_IDS_DESCRIBED_AS_EMPTY, anomaly="unknown-id-described"),
        Failpoint(rules=ONE_FOREIGN_ID_FAILS_ALL, anomaly="known-id-refused"),
        Failpoint(rules=ONE_FOREIGN_ID_FAILS_ALL, anomaly="wrong-error"),
        Failpoint(rules=NOTHING_LISTED, anomaly="known-id-not-listed"),
        Failpoint(rules=A_LOOK_CREATES_THE_ID, anomaly="created-by-a-look"),
    ),
)
