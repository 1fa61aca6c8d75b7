"""KIP890-ATX-09: of several transactions in one request each gets its own answer.

A leader asks in one request for all producers that wait; were a refusal to spread, a fenced producer could stop the
others. That a request carries a batch of transactions and each has its result is the KIP's; the codes are Kafka's.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.adding_rules import PRESENT_PARTITION_NOT_VERIFIED
from harness.contract.byteman.verification_rules import ANY_EPOCH_VERIFIED, UNKNOWN_ID_VERIFIED
from harness.contract.doctored import commit, data, described, evidence, joint_add, log, unsound, written
from harness.contract.refuters import Failpoint
from harness.lab import Lab
from harness.lab.powers.joint_requests import part

MAPPING, FENCED = KafkaError.INVALID_PRODUCER_ID_MAPPING, KafkaError.PRODUCER_FENCED
OWN, OTHER = ("P1", "P2"), ("P3",)
WRONG = {"unknown": MAPPING, "fenced": FENCED}


def stimulus(lab: Lab) -> None:
    """Two transactions that are well, between them one of an unknown id and one in a wrong epoch; one coordinator."""
    txn = lab.producer()
    rival = lab.producer("rival", coordinator=txn.coordinator)
    unknown = lab.producer(init=False, coordinator=txn.coordinator)
    own, other = [lab.partition(alias) for alias in OWN], [lab.partition(alias) for alias in OTHER]
    txn.add(*own)
    rival.add(*other)
    for version in lab.offered("AddPartitionsToTxn", (4, 5)):
        asked = {
            "own": part(txn, *own, verify_only=True),
            "unknown": part(unknown, *own, verify_only=True, producer_id=txn.producer_id, epoch=txn.epoch),
            "other": part(rival, *other, verify_only=True),
        }
        lab.joint().add(txn.coordinator, asked, version=version, as_="batch")
        fenced = {"fenced": part(txn, *own, verify_only=True, epoch=txn.epoch + 1), "other": asked["other"]}
        lab.joint().add(txn.coordinator, fenced, version=version, as_="batch with a fenced")
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
    for writer, places in ((txn, own), (rival, other)):
        for place in places:
            writer.produce(place, as_="write")
        writer.end(commit=True)


def check(seen: Evidence) -> Observations:
    """Yes for those that are well, a refusal for each of the others, and no transaction is left out."""
    for name, well, wrong in (("batch", ("own", "other"), "unknown"), ("batch with a fenced", ("other",), "fenced")):
        for batch in seen.all(name):
            for transaction in well:
                for alias in OWN if transaction == "own" else OTHER:
                    answer = batch.of(transaction).at(alias)
                    yield expect.accepted(answer, otherwise="refused-beside-another")
            for alias in OWN:
                answer = batch.of(wrong).at(alias)
                yield expect.refused(answer, WRONG[wrong], otherwise="accepted-beside-another", code=Level.SHOULD)
    yield expect.keeps(seen["kept"], state="Ongoing", partitions=OWN, otherwise="transaction-changed")
    for alias in (*OWN, *OTHER):
        values = [value for write in expect.writes(seen, alias, "write") for value in write.written()]
        yield from expect.sound(seen, alias, values)


def answers(own: int, unknown: int | None, other: int, fenced: int) -> Evidence:
    """A run with these answers; None leaves the transaction out."""
    first = {"own": dict.fromkeys(OWN, own), "other": dict.fromkeys(OTHER, other)}
    left_out = {} if unknown is None else {"unknown": dict.fromkeys(OWN, unknown)}
    second = {"fenced": dict.fromkeys(OWN, fenced), "other": dict.fromkeys(OTHER, other)}
    return evidence(
        joint_add("batch", 5, **first, **left_out),
        joint_add("batch with a fenced", 5, **second),
        described("kept", "Ongoing", partitions=OWN),
        *(written("write", 11, alias, to=alias) for alias in (*OWN, *OTHER)),
        logs={alias: log(data(7, 0, alias), commit(7, 0)) for alias in (*OWN, *OTHER)},
    )


GOOD = answers(0, MAPPING, 0, FENCED)

REQUIREMENT = Requirement(
    id="KIP890-ATX-09",
    source=Source(890, "Public Interfaces"),
    statement="Of several transactions in one AddPartitionsToTxn each is judged alone and each is answered.",
    needs=(Offers("AddPartitionsToTxn", 4),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("refused-beside-another", answers(MAPPING, MAPPING, 0, FENCED)),
        Refusal("refused-beside-another", answers(0, MAPPING, FENCED, FENCED)),
        Refusal("accepted-beside-another", answers(0, 0, 0, FENCED)),
        Refusal("accepted-beside-another", answers(0, MAPPING, 0, 0)),
        Refusal("wrong-error", answers(0, FENCED, 0, FENCED)),
        Refusal("unanswered", answers(0, None, 0, FENCED)),
        Refusal("transaction-changed", GOOD.with_step("kept", partitions=[])),
        *(refusal for alias in (*OWN, *OTHER) for refusal in unsound(GOOD, alias)),
    ),
    refuted_by=(
        Failpoint(rules=ANY_EPOCH_VERIFIED, anomaly="accepted-beside-another"),
        Failpoint(rules=UNKNOWN_ID_VERIFIED, anomaly="unanswered"),
        Failpoint(rules=PRESENT_PARTITION_NOT_VERIFIED, anomaly="refused-beside-another"),
    ),
)
