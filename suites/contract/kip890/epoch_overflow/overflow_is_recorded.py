"""KIP890-OVF-03, -04: the log of the coordinator tells how the producer id changes, so that another one can go on.

The record of the prepared end has the old id, one epoch up, and names the next one; that of the completed end has the
new id in epoch 0 and still names the old. Whoever takes over between the two, or is asked to repeat the end, knows by
them which identity the client was given. An end that does not overflow names no next id. Before 4.3 Kafka wrote neither
name, though it read them (KAFKA-20310).
"""

from harness.contract import Access, Evidence, Feature, Observations, Offers, Refusal, Requirement, Source
from harness.contract import TransactionResult as Result
from harness.contract.byteman import transaction_metadata_rules as rules
from harness.contract.doctored import adopted
from harness.contract.records.state_records import StateRecord, in_state, recorded, with_record
from harness.contract.refuters import Failpoint, LiveRefuter, Release
from harness.contract.requirement import Check
from harness.lab import Lab
from harness.lab.powers.last_epochs import LAST_EPOCH

BEFORE, LAST = "before the last", "last"
_WRONG, _NEXT, _NO_PREVIOUS = "wrong-identity-recorded", "wrong-next-id-recorded", "previous-id-not-recorded"


def stimulus(lab: Lab) -> None:
    """A commit and an abort in the epoch before the last, and in the last; the records of each are read after it."""
    partition = lab.partition("P1")
    for txn, result in zip(lab.near_the_end(epoch=LAST_EPOCH - 1, count=2, protocol=2), Result, strict=True):
        for name in (BEFORE, LAST):
            txn.produce(partition)
            txn.end(commit=result.commits, as_=f"{result.noun}, {name}")
            lab.reached(txn, result.completed, as_="kept")
            records = lab.observer.transaction_records(txn.transactional_id, txn.coordinator)
            lab.note(f"records of the {result.noun}, {name}", records)


def prepared(seen: Evidence) -> Observations:
    """The old id, one epoch up, as what it is and what it was; the next one where there is one."""
    for result in Result:
        old, following = identities(seen, result)
        for name, epoch, named in ((BEFORE, LAST_EPOCH, -1), (LAST, LAST_EPOCH + 1, following)):
            what, record = moment(seen, result, name, result.prepared)
            yield recorded(what, record, producer_id=old, producer_epoch=epoch, otherwise=_WRONG)
            yield recorded(what, record, next_producer_id=named, otherwise=_NEXT)
            yield recorded(what, record, previous_producer_id=old, otherwise=_NO_PREVIOUS)


def completed(seen: Evidence) -> Observations:
    """The new id in epoch 0, after the old one; none is to come any more."""
    for result in Result:
        old, following = identities(seen, result)
        for name, own, epoch in ((BEFORE, old, LAST_EPOCH), (LAST, following, 0)):
            what, record = moment(seen, result, name, result.completed)
            yield recorded(what, record, producer_id=own, producer_epoch=epoch, otherwise=_WRONG)
            yield recorded(what, record, next_producer_id=-1, otherwise=_NEXT)
            yield recorded(what, record, previous_producer_id=old, otherwise=_NO_PREVIOUS)


def identities(seen: Evidence, result: Result) -> tuple[int, int]:
    """The producer id until the overflow, and the one that the client was then given."""
    first, last = seen[f"{result.noun}, {BEFORE}"], seen[f"{result.noun}, {LAST}"]
    return first.request_int("producer_id"), last.answer_int("producer_id")


def moment(seen: Evidence, result: Result, name: str, state: str) -> tuple[str, StateRecord]:
    """What is looked at, in words, and its record."""
    return f"{state}, {name}", in_state(seen, f"records of the {result.noun}, {name}", state)


def requirement(id_: str, statement: str, check: Check, state: str, *refuted_by: LiveRefuter) -> Requirement[Lab]:
    """The promise for the records in this state of a commit, and of an abort."""
    good = adopted(__file__, id_)
    last = f"records of the commit, {LAST}"
    return Requirement(
        id=id_,
        source=Source(890, "Bump Epoch on Each Transaction for New Clients (1), overflow"),
        statement=statement,
        needs=(Offers("EndTxn", 5), Offers("Produce", 12), Feature("transaction.version", 2)),
        access=(Access.LOAD,),
        stimulus=stimulus,
        check=check,
        accepts=(good,),
        refuses=(
            Refusal(_WRONG, with_record(good, last, state, producer_epoch=LAST_EPOCH)),
            Refusal(_WRONG, with_record(good, last, state, producer_id=99)),
            Refusal(_NEXT, with_record(good, last, state, next_producer_id=99)),
            Refusal(_NO_PREVIOUS, with_record(good, last, state, previous_producer_id=-1)),
        ),
        refuted_by=refuted_by,
    )


REQUIREMENTS = (
    requirement(
        "KIP890-OVF-03",
        "The record of the prepared end keeps the old producer id and names the next one.",
        prepared,
        Result.COMMIT.prepared,
        Failpoint(rules=rules.END_WITHOUT_BUMP, anomaly=_WRONG),
        Release(version="4.1.2", anomaly=_NEXT),
        Release(version="4.1.2", anomaly=_NO_PREVIOUS),
    ),
    requirement(
        "KIP890-OVF-04",
        "The record of the completed end has the new producer id in epoch 0 and remembers the old one.",
        completed,
        Result.COMMIT.completed,
        Failpoint(rules=rules.OVERFLOW_RECORDED_IN_THE_LAST_EPOCH, anomaly=_WRONG),
        Failpoint(rules=rules.COMPLETED_NAMES_THE_NEXT_ID, anomaly=_NEXT),
        Release(version="4.1.2", anomaly=_NO_PREVIOUS),
    ),
)
