"""KIP360-LOG-01: the coordinator's record of a bump tells the last producer id and the last epoch.

By them the next coordinator knows a repetition from a zombie (INIT-09, -10). After a start without identity both are
empty, after one with an identity they are that identity. KIP-360 planned two fields of a record of version 1. Kafka
made that version the one with tagged fields (KIP-915), has a field for the last producer id among them, and writes it
from 4.3 on (KAFKA-20310), also after a start without identity; no release has one for the last epoch (KAFKA-20357).
"""

from typing import Any

from harness.base.json_value import Json
from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.doctored import evidence, step
from harness.contract.records.state_records import recorded, state_records, with_record
from harness.contract.refuters import Release
from harness.lab import Lab

FRESH, BUMPED = "record of the start without identity", "record of the start with an identity"


def stimulus(lab: Lab) -> None:
    """A start without identity of a known id, then one with the current identity; the newest record after each."""
    txn = lab.producer()
    txn.init(as_="no identity")
    lab.note(FRESH, lab.observer.transaction_records(txn.transactional_id, txn.coordinator)[-1:])
    txn.init(identity=(txn.producer_id, txn.epoch), as_="own identity")
    lab.note(BUMPED, lab.observer.transaction_records(txn.transactional_id, txn.coordinator)[-1:])


def check(seen: Evidence) -> Observations:
    """Nothing of the last identity in the first record, all of it in the second."""
    for init in (seen["no identity"], seen["own identity"]):
        yield expect.accepted(init, otherwise="start-refused")
    own, epoch = seen["own identity"].request_int("producer_id"), seen["own identity"].request_int("producer_epoch")
    (fresh,), (bumped,) = state_records(seen, FRESH), state_records(seen, BUMPED)
    yield recorded("a new start", fresh, previous_producer_id=-1, otherwise="last-id-not-empty")
    yield recorded("a bump", bumped, producer_id=own, producer_epoch=epoch + 1, otherwise="wrong-identity-recorded")
    yield recorded("a bump", bumped, previous_producer_id=own, otherwise="last-id-not-recorded")
    yield recorded("a bump", bumped, last_producer_epoch=epoch, otherwise="last-epoch-not-recorded")


def _record(epoch: int, last_id: int, last_epoch: int) -> dict[str, Json]:
    last: dict[str, Json] = {"previous_producer_id": last_id, "last_producer_epoch": last_epoch}
    return {"state": "Empty", "producer_id": 7, "producer_epoch": epoch, **last}


_FACTS: dict[str, Any] = {FRESH: [_record(1, -1, -1)], BUMPED: [_record(2, 7, 1)]}
GOOD = evidence(
    step("no identity", "InitProducerId", 4, producer_id=7, producer_epoch=1),
    step("own identity", "InitProducerId", 4, request={"producer_id": 7, "producer_epoch": 1}),
    **_FACTS,
)

REQUIREMENT = Requirement(
    id="KIP360-LOG-01",
    source=Source(360, "Public Interfaces: the transaction state message"),
    statement="The coordinator's record of a bump carries the last producer id and the last epoch.",
    needs=(Offers("InitProducerId", 3),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("start-refused", GOOD.with_step("own identity", error=KafkaError.PRODUCER_FENCED)),
        Refusal("last-id-not-empty", with_record(GOOD, FRESH, "Empty", previous_producer_id=7)),
        Refusal("wrong-identity-recorded", with_record(GOOD, BUMPED, "Empty", producer_epoch=1)),
        Refusal("last-id-not-recorded", with_record(GOOD, BUMPED, "Empty", previous_producer_id=-1)),
        Refusal("last-epoch-not-recorded", with_record(GOOD, BUMPED, "Empty", last_producer_epoch=-1)),
    ),
    refuted_by=(
        Release(version="4.3.1", anomaly="last-epoch-not-recorded"),
        Release(version="4.3.1", anomaly="last-id-not-empty"),
        Release(version="4.1.2", anomaly="last-id-not-recorded"),
    ),
)
