"""KIP890-LOG-03: once the next transaction has begun, the log names neither the id of before nor one to come.

The KIP keeps both fields through Prepare and Complete, for repetitions, and then wants them cleared: from then on the
id of before is nobody's. From 4.3 on, where they are written at all, the next one is cleared, and the previous one is
always the id that the coordinator kept before the record: of an open transaction its own.
"""

from typing import Any

from harness.base.json_value import Json
from harness.contract import (
    Access,
    Evidence,
    Feature,
    KafkaError,
    NotSeen,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract import TransactionResult as Result
from harness.contract.byteman.transaction_metadata_rules import OPEN_TRANSACTION_NAMES_THE_OLD_ID
from harness.contract.doctored import commit, data, ended, evidence, log, unsound, written
from harness.contract.records.state_records import in_state, recorded, with_record
from harness.contract.refuters import Failpoint, Release
from harness.lab import Lab
from harness.lab.powers.last_epochs import LAST_EPOCH

OVERFLOW, NEXT = "records of the overflow", "records of the next transaction"


def stimulus(lab: Lab) -> None:
    """The end in the last epoch, and an open transaction of the new id; the records after each."""
    partition = lab.partition("P1")
    (txn,) = lab.near_the_end(protocol=2)
    txn.produce(partition, as_="last write")
    txn.end(commit=True, as_="overflowing end")
    lab.reached(txn, "CompleteCommit", as_="ended")
    lab.note(OVERFLOW, lab.observer.transaction_records(txn.transactional_id, txn.coordinator))
    txn.produce(partition, as_="next write")
    lab.note(NEXT, lab.observer.transaction_records(txn.transactional_id, txn.coordinator))
    txn.end(commit=True, as_="next end")


def check(seen: Evidence) -> Observations:
    """The end gave a new id; the next record names none beside it. What the end's names is OVF-03's."""
    old, own = seen["overflowing end"].request_int("producer_id"), seen["overflowing end"].answer_int("producer_id")
    if old == own or in_state(seen, OVERFLOW, Result.COMMIT.completed).get("producer_id") != own:
        raise NotSeen("the end in the last epoch gave no new producer id")
    record = in_state(seen, NEXT, "Ongoing")
    for step in (seen["next write"], seen["next end"]):
        yield expect.accepted(step, otherwise="new-identity-refused")
    yield recorded("what is open", record, producer_id=own, producer_epoch=0, otherwise="wrong-identity-recorded")
    yield recorded("what is open", record, next_producer_id=-1, otherwise="next-id-not-cleared")
    named = record.get("previous_producer_id")
    yield expect.unless(named != old, f"{named} is not the id of before, {old}", otherwise="old-id-kept")
    yield expect.unless(named in (-1, old), f"{named} is none", otherwise="previous-id-not-cleared")
    yield from expect.sound(seen, "P1", (*seen["last write"].written(), *seen["next write"].written()))


def _record(state: str, producer_id: int, epoch: int, **fields: Json) -> dict[str, Json]:
    known: dict[str, Json] = {"state": state, "producer_id": producer_id, "producer_epoch": epoch}
    return {**known, "next_producer_id": -1, "previous_producer_id": -1, **fields}


_COMPLETED = _record("CompleteCommit", 8, 0, previous_producer_id=7)
_FACTS: dict[str, Any] = {OVERFLOW: [_COMPLETED], NEXT: [_COMPLETED, _record("Ongoing", 8, 0)]}
GOOD = evidence(
    written("last write", 12, "a"),
    ended("overflowing end", epoch=LAST_EPOCH),
    written("next write", 12, "b", producer_id=8),
    ended("next end", producer_id=8),
    logs={"P1": log(data(7, LAST_EPOCH, "a"), commit(7, LAST_EPOCH + 1), data(8, 0, "b"), commit(8, 1))},
    **_FACTS,
).with_step("overflowing end", producer_id=8, producer_epoch=0)

REQUIREMENT = Requirement(
    id="KIP890-LOG-03",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1): clear them"),
    statement="The record of the next transaction names neither the producer id of before nor one to come.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12), Feature("transaction.version", 2)),
    access=(Access.LOAD,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("new-identity-refused", GOOD.with_step("next end", error=KafkaError.PRODUCER_FENCED)),
        Refusal("wrong-identity-recorded", with_record(GOOD, NEXT, "Ongoing", producer_epoch=1)),
        Refusal("next-id-not-cleared", with_record(GOOD, NEXT, "Ongoing", next_producer_id=8)),
        Refusal("old-id-kept", with_record(GOOD, NEXT, "Ongoing", previous_producer_id=7)),
        Refusal("previous-id-not-cleared", with_record(GOOD, NEXT, "Ongoing", previous_producer_id=8)),
        *unsound(GOOD),
    ),
    refuted_by=(
        Release(version="4.3.1", anomaly="previous-id-not-cleared"),
        Failpoint(rules=OPEN_TRANSACTION_NAMES_THE_OLD_ID, anomaly="old-id-kept"),
        Failpoint(rules=OPEN_TRANSACTION_NAMES_THE_OLD_ID, anomaly="next-id-not-cleared"),
    ),
)
