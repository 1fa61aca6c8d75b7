"""KIP360-RET-01, -02: a leader keeps what it knows of a producer when all of its records are deleted.

Ten records are deleted by DeleteRecords, or because they are too old for their topic. A leader that had forgotten the
producer would take any sequence for its first. So one that leaves a gap is tried, which must be refused; then the next,
which must be taken; then the old batch again. A producer of 8 days ago is gone by then: the leader has looked for some
to forget. That the state is kept is the KIP's; the codes, and that a repeated batch gets its old offset, are Kafka's.
"""

from functools import partial
from typing import Any

from harness.base.json_value import Json
from harness.contract import (
    Evidence,
    KafkaError,
    Level,
    NotSeen,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.leader_rules import NEXT_AFTER_TEN_REFUSED, NO_DUPLICATE_FOUND, NO_SEQUENCE_CHECK
from harness.contract.doctored import data, evidence, log, producer_row, producers, step, unsound, written
from harness.contract.refuters import Failpoint, Setting
from harness.evidence.requirement_evidence import LogTruth
from harness.lab import Lab, Partition
from suites.contract.kip360.retention.forgotten_producers import BOUND_SECONDS, await_a_check, checked
from suites.contract.wishes import CHECKED_OFTEN

RECORDS = 10
VALUES = tuple(f"record {number}" for number in range(RECORDS))
EXPIRATION = "producer.id.expiration.ms"


def stimulus(lab: Lab, by_age: bool) -> None:
    """Ten records, gone; then a gap, the next one and the old ones again."""
    partition = lab.partition("P1", configs={"retention.ms": "60000"} if by_age else None)
    plain = lab.idempotent()
    timestamp = lab.minutes_ago(10) if by_age else None
    plain.produce(partition, values=VALUES, timestamp_ms=timestamp, as_="records")
    if by_age:
        await_retention(lab, partition)
    else:
        lab.delete_records(partition, as_="deleted")
    await_a_check(lab, partition)
    if by_age:
        await_retention(lab, partition)  # of the old record by which the check was seen
    lab.note("begins at", lab.observer.start_offset(partition))
    lab.observer.producers(partition, as_="kept")
    plain.produce(partition, sequence=RECORDS + 2, as_="gap", retry=())
    plain.produce(partition, as_="next", retry=())
    plain.produce(partition, sequence=0, values=VALUES, as_="records again", retry=())


def await_retention(lab: Lab, partition: Partition) -> None:
    """Wait, bounded, until everything that is there now has gone by its age."""
    end = lab.observer.end_offset(partition)
    lab.patience.until(
        lambda: lab.observer.start_offset(partition) >= end,
        kinds=("retention",),
        timeout_seconds=BOUND_SECONDS,
        interval_seconds=0.05,
    )


def check(seen: Evidence) -> Observations:
    """Known with its last sequence; the gap is refused, the next record taken, the repeated ones not written again."""
    records, begins = seen["records"], seen.fact("begins at")
    if not isinstance(begins, int) or begins < RECORDS:
        raise NotSeen(f"the records are still there: the log begins at {begins}")
    checked(seen)
    own, order = records.request_int("producer_id"), KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER
    yield expect.producer(seen["kept"], own, last_sequence=RECORDS - 1, otherwise="producer-forgotten")
    yield expect.refused(seen["gap"], order, code=Level.SHOULD, otherwise="gap-accepted")
    yield expect.accepted(seen["next"], otherwise="next-write-refused")
    again = seen["records again"]
    told = (again.error, again.fields.get("base_offset"))
    yield expect.habit(expect.agree("the repeated batch", told, (0, 0), again, otherwise="repetition-unknown"))
    appended = [value for value in seen.log().values() if value in seen["next"].written() or value in VALUES]
    promised = [*seen["next"].written()]
    yield expect.agree("its records", appended, promised, again, otherwise="repetition-appended")
    yield from expect.sound(seen)


def requirement(id_: str, statement: str, *, by_age: bool) -> Requirement[Lab]:
    """The promise for one way in which records go."""
    order = KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER
    values: dict[str, Json] = {"producer_id": 7, "values": [*VALUES]}
    facts: dict[str, Any] = {"begins at": RECORDS, "idle gone": True}
    good = evidence(
        step("records", "Produce", 11, request=values, base_offset=0),
        producers("kept", producer_row(last_sequence=RECORDS - 1)),
        step("gap", "Produce", 11, error=order),
        written("next", 11, "next"),
        step("records again", "Produce", 11, request=values, base_offset=0),
        logs={"P1": log(data(7, 0, "next", transactional=False))},
        **facts,
    )
    forgetful = Setting(key=EXPIRATION, value="1", anomaly="gap-accepted")
    return Requirement(
        id=id_,
        source=Source(360, "Prolonged producer state retention"),
        statement=statement,
        needs=(Offers("DeleteRecords", 1),),
        cluster=CHECKED_OFTEN,
        order=Order.ALONE,
        stimulus=partial(stimulus, by_age=by_age),
        check=check,
        accepts=(good,),
        refuses=(
            Refusal("producer-forgotten", good.with_step("kept", producers=[])),
            Refusal("producer-forgotten", good.with_step("kept", producers=[producer_row(last_sequence=-1)])),
            Refusal("gap-accepted", good.with_step("gap", error=0)),
            Refusal("wrong-error", good.with_step("gap", error=KafkaError.UNKNOWN_PRODUCER_ID)),
            Refusal("unanswered", good.with_step("gap", error=None)),
            Refusal("next-write-refused", good.with_step("next", error=order)),
            Refusal("repetition-unknown", good.with_step("records again", error=order)),
            Refusal("repetition-unknown", good.with_step("records again", base_offset=20)),
            Refusal("repetition-appended", good.with_log(truth=_twice())),
            *unsound(good, appended=None),
        ),
        refuted_by=(
            forgetful,
            Failpoint(rules=NO_SEQUENCE_CHECK, anomaly="gap-accepted"),
            Failpoint(rules=NO_DUPLICATE_FOUND, anomaly="repetition-unknown"),
            Failpoint(rules=NEXT_AFTER_TEN_REFUSED, anomaly="next-write-refused"),
            Failpoint(rules=NO_DUPLICATE_FOUND + NO_SEQUENCE_CHECK, anomaly="repetition-appended"),
            Setting(key=EXPIRATION, value="1", anomaly="producer-forgotten"),
        ),
    )


def _twice() -> LogTruth:
    return log(data(7, 0, "next", transactional=False), data(7, 0, *VALUES, transactional=False))


REQUIREMENTS = (
    requirement("KIP360-RET-01", "What a leader keeps of a producer outlives DeleteRecords.", by_age=False),
    requirement(
        "KIP360-RET-02", "What a leader keeps of a producer outlives the retention of its records.", by_age=True
    ),
)
