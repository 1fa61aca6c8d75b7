"""KIP664-DP-01: DescribeProducers lists every producer that the partition knows, each with its own state.

Three producers wrote: one without transactions, one whose transaction is open, one whose transaction is committed. The
KIP promises their ids, epochs, last sequences, timestamps, the coordinator's epoch and where an open transaction began
(``TxnStartOffset``; in Kafka's schema ``CurrentTxnStartOffset``). That a producer which never had a marker has
coordinator epoch -1, and that LastTimestamp is the last record's create time, are Kafka's: the KIP does not say. So is
it that one is listed whose transaction is over: "active" producers are the KIP's (KIP664-DP-08).
"""

from harness.base.json_value import Json
from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import START_OFFSET_IS_THE_LAST
from harness.contract.byteman.looks_rules import (
    NO_LAST_SEQUENCES_TOLD,
    NO_PRODUCERS_TOLD,
    ONE_UNKNOWN_PARTITION_FAILS_ALL,
    ONLY_THE_FIRST_PRODUCER_LISTED,
    STRANGE_COORDINATOR_EPOCHS_TOLD,
)
from harness.contract.doctored import commit, data, evidence, log, producer_row, producers, step, unsound
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab

IDLE, OPEN, DONE = "idle", "open", "done"
FIRST_MS, LAST_MS = 86_400_000, 172_800_000
"""Create times that no clock of today gives, so that they can come from the records alone."""


def stimulus(lab: Lab) -> None:
    """Two batches of each producer, the last with its own create time; one transaction is committed, one stays open."""
    partition = lab.partition("P1", configs={"retention.ms": "-1"})
    idle, going, done = lab.idempotent("rival"), lab.producer(), lab.producer("rival")
    for txn in (done, going):
        txn.add(partition)
    for name, producer in ((DONE, done), (OPEN, going), (IDLE, idle)):
        producer.produce(partition, timestamp_ms=FIRST_MS, as_=name)
        producer.produce(partition, values=("x", "y"), timestamp_ms=LAST_MS, as_=name)
    done.end(commit=True)
    lab.reached(done, "CompleteCommit", "Empty", as_="committed")
    lab.note("coordinator_epoch", lab.coordinator_epoch(done))
    lab.observer.producers(partition, as_="described")
    going.end(commit=True)
    lab.completed(partition)


def check(seen: Evidence) -> Observations:
    """Each of the three once, with its epoch, last sequence and timestamp; open since its first batch, or not."""
    described = seen["described"]
    yield expect.accepted(described, otherwise="look-refused")
    listed = [row.get("producer_id") for row in expect.rows(described, "producers")]
    for name in (IDLE, OPEN, DONE):
        first, last = seen.all(name)
        own = first.request_int("producer_id")
        known = {"producer_epoch": first.request_int("producer_epoch"), "last_sequence": 2}
        since = first.answer_int("base_offset") if name == OPEN else -1
        for write in (first, last):
            yield expect.accepted(write, otherwise="write-refused")
        if name == DONE and own not in listed:
            yield expect.habit(expect.unless(False, "the ended one is listed", described, otherwise="ended-not-listed"))
            continue
        yield expect.agree(f"entries of the {name} one", listed.count(own), 1, described, otherwise="not-listed-once")
        yield expect.producer(described, own, **known, otherwise="wrong-producer-state")
        yield expect.open_since(described, own, since, otherwise="wrong-start-offset")
        if name == DONE:
            epoch = seen.fact("coordinator_epoch")
            yield expect.producer(described, own, coordinator_epoch=epoch, otherwise="wrong-coordinator-epoch")
        else:
            kept = {"coordinator_epoch": -1, "last_timestamp": LAST_MS}
            yield expect.habit(expect.producer(described, own, **kept, otherwise="another-first-state"))
    yield from expect.sound(seen)


def _write(name: str, producer_id: int, offset: int) -> Step:
    request: dict[str, Json] = {"producer_id": producer_id, "producer_epoch": 0, "partitions": ["P1"]}
    return step(name, "Produce", 9, request=request, base_offset=offset)


def _row(producer_id: int, **changes: int) -> Json:
    row = producer_row(producer_id, **{"last_sequence": 2, "coordinator_epoch": -1, **changes})
    return {**row, "last_timestamp": LAST_MS} if isinstance(row, dict) else row


_ORDER = ((DONE, 7, 0), (OPEN, 8, 3), (IDLE, 9, 6))
_DONE, _OPEN, _IDLE = _row(7, coordinator_epoch=4), _row(8, since=3), _row(9)
_DATA = [data(who, 0, f"{name} 1", f"{name} 2", f"{name} 3", transactional=who < 9) for name, who, _ in _ORDER]
GOOD = evidence(
    *(_write(name, who, offset + more) for name, who, offset in _ORDER for more in (0, 1)),
    producers("described", _DONE, _OPEN, _IDLE),
    logs={"P1": log(*_DATA, commit(7, 0), commit(8, 0))},
    coordinator_epoch=4,
)


def listing(*rows: Json) -> Evidence:
    """A sound run, but for these entries."""
    return GOOD.with_step("described", producers=[*rows])


REQUIREMENT = Requirement(
    id="KIP664-DP-01",
    source=Source(664, "DescribeProducers"),
    statement="Every producer that a partition knows is listed once, with its own state.",
    needs=(Offers("DescribeProducers", 0),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("look-refused", GOOD.with_step("described", error=KafkaError.TOPIC_AUTHORIZATION_FAILED)),
        Refusal("write-refused", GOOD.with_step(IDLE, error=KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER)),
        Refusal("not-listed-once", listing(_DONE, _OPEN, _IDLE, _IDLE)),
        Refusal("ended-not-listed", listing(_OPEN, _IDLE)),
        Refusal("wrong-producer-state", listing(_DONE, _row(8, since=3, last_sequence=0), _IDLE)),
        Refusal("wrong-producer-state", listing(_DONE, _OPEN, _row(9, epoch=1))),
        Refusal("wrong-start-offset", listing(_DONE, _row(8, since=4), _IDLE)),
        Refusal("wrong-start-offset", listing(_row(7, since=0, coordinator_epoch=4), _OPEN, _IDLE)),
        Refusal("wrong-coordinator-epoch", listing(_row(7, coordinator_epoch=3), _OPEN, _IDLE)),
        Refusal("another-first-state", listing(_DONE, _row(8, since=3, coordinator_epoch=0), _IDLE)),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=ONLY_THE_FIRST_PRODUCER_LISTED, anomaly="not-listed-once"),
        Failpoint(rules=NO_PRODUCERS_TOLD, anomaly="ended-not-listed"),
        Failpoint(rules=NO_LAST_SEQUENCES_TOLD, anomaly="wrong-producer-state"),
        Failpoint(rules=START_OFFSET_IS_THE_LAST, anomaly="wrong-start-offset"),
        Failpoint(rules=STRANGE_COORDINATOR_EPOCHS_TOLD, anomaly="wrong-coordinator-epoch"),
        Failpoint(rules=STRANGE_COORDINATOR_EPOCHS_TOLD, anomaly="another-first-state"),
        Failpoint(rules=ONE_UNKNOWN_PARTITION_FAILS_ALL, anomaly="look-refused"),
    ),
)
