"""KIP664-DP-04: a broker that has no replica of a partition says so instead of showing a partition without producers.

An empty list would tell an operator that nothing hangs there. KIP-664 names NOT_LEADER_OR_FOLLOWER for who cannot
answer and UNKNOWN_TOPIC_OR_PARTITION for what is "not known to exist"; the partition exists, so the former is meant.
The part about an offline log directory (KAFKA_STORAGE_ERROR) is not tried.
"""

from harness.base.json_value import Json
from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.looks_rules import (
    NO_PRODUCERS_TOLD,
    ONE_UNKNOWN_PARTITION_FAILS_ALL,
    STRANGERS_DESCRIBE_AN_EMPTY_PARTITION,
)
from harness.contract.doctored import commit, data, evidence, log, producer_row, step, unsound
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab

UNKNOWN = KafkaError.UNKNOWN_TOPIC_OR_PARTITION


def stimulus(lab: Lab) -> None:
    """A transaction is open on a partition with one replica; its broker and another one are asked."""
    partition, txn = lab.partition("P1"), lab.producer()
    stranger = lab.another_broker(partition.leader)
    txn.write(partition)
    lab.looks.producers(partition.leader, partition, as_="replica")
    lab.looks.producers(stranger, partition, as_="stranger", retry=(UNKNOWN,))  # it may not know the topic yet
    txn.end(commit=True)
    lab.completed(partition)


def check(seen: Evidence) -> Observations:
    """The replica describes its one producer; the stranger refuses and describes none."""
    replica, stranger = seen["replica"].at("P1"), seen["stranger"].at("P1")
    yield expect.accepted(replica, otherwise="replica-refused")
    yield expect.unless(bool(replica.fields.get("producers")), "one is open", replica, otherwise="producer-not-listed")
    yield expect.refused(
        stranger, KafkaError.NOT_LEADER_OR_FOLLOWER, also=(UNKNOWN,), otherwise="described-without-replica"
    )
    yield expect.shows(stranger, producers=[], otherwise="described-without-replica")
    yield from expect.sound(seen, shown="committed-record-lost")


def _part(error: int, *rows: Json) -> Json:
    return {"error": error, "error_message": None, "producers": list(rows)}


def _answer(name: str, node: int, error: int, *rows: Json) -> Step:
    return step(name, "DescribeProducers", 0, error=error, node=node, partitions={"P1": _part(error, *rows)})


def answers(error: int, *rows: Json) -> Evidence:
    """A sound run, but for what the stranger said."""
    logs = {"P1": log(data(7, 0, "a"), commit(7, 0))}
    return evidence(_answer("replica", 1, 0, producer_row(since=0)), _answer("stranger", 2, error, *rows), logs=logs)


GOOD = answers(KafkaError.NOT_LEADER_OR_FOLLOWER)

REQUIREMENT = Requirement(
    id="KIP664-DP-04",
    source=Source(664, "DescribeProducers: possible errors"),
    statement="A broker without a replica of the partition refuses to describe its producers.",
    needs=(Offers("DescribeProducers", 0),),
    access=(Access.BROKERS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("described-without-replica", answers(0)),
        Refusal("described-without-replica", answers(KafkaError.NOT_LEADER_OR_FOLLOWER, producer_row(since=0))),
        Refusal("wrong-error", answers(UNKNOWN)),
        Refusal("wrong-error", answers(KafkaError.UNKNOWN_SERVER_ERROR)),
        Refusal("unanswered", GOOD.with_step("stranger", partitions={"P1": {"producers": []}})),
        Refusal("replica-refused", GOOD.with_step("replica", partitions={"P1": _part(6, producer_row(since=0))})),
        Refusal("producer-not-listed", GOOD.with_step("replica", partitions={"P1": _part(0)})),
        *unsound(GOOD, appended=None, shown="committed-record-lost"),
    ),
    refuted_by=(
        Failpoint(rules=STRANGERS_DESCRIBE_AN_EMPTY_PARTITION, anomaly="described-without-replica"),
        Failpoint(rules=ONE_UNKNOWN_PARTITION_FAILS_ALL, anomaly="replica-refused"),
        Failpoint(rules=ONE_UNKNOWN_PARTITION_FAILS_ALL, anomaly="wrong-error"),
        Failpoint(rules=NO_PRODUCERS_TOLD, anomaly="producer-not-listed"),
    ),
)
