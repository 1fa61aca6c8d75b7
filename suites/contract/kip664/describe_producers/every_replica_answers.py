"""KIP664-DP-03: DescribeProducers is answered by every in-sync replica, with the same state of each producer.

KIP-664 sends it "to any replica of a topic partition", and its tool has ``--broker`` "to describe producers for a
specific replica": a replica that differs from its leader is what an operator looks for. But two other sentences send it
"to partition leaders", and its list of errors has NOT_LEADER_OR_FOLLOWER for one that is not. So a follower may refuse
by that code, and that it answers is Kafka's; whoever answers must tell the truth. That a producer is still told of
after its transaction is Kafka's too (KIP664-DP-08).

Writes and markers count once every in-sync replica has them (acks = all), so nothing need be waited for.
"""

from harness.base.json_value import Json
from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import START_OFFSET_IS_THE_LAST
from harness.contract.byteman.looks_rules import FOLLOWERS_DESCRIBE_NOTHING, FOLLOWERS_KNOW_NO_PRODUCER
from harness.contract.doctored import adopted, producer_row, unsound
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab, Partition

OPEN, ENDED = "open", "ended"


def stimulus(lab: Lab) -> None:
    """A committed transaction and one of a rival that is still open; everywhere looked at, then ended, looked again."""
    brokers = lab.cluster.topology.brokers
    lab.another_broker(brokers[0])
    partition = lab.partition("P1", replicas=len(brokers))
    done, going = lab.producer("victim"), lab.producer("rival")
    done.add(partition)
    done.produce(partition, as_="committed write")
    done.end(commit=True)
    lab.completed(partition)
    going.add(partition)
    going.produce(partition, as_="open write")
    going.produce(partition)
    look(lab, partition, OPEN)
    going.end(commit=False)
    lab.completed(partition)
    look(lab, partition, ENDED)


def look(lab: Lab, partition: Partition, moment: str) -> None:
    """The leader's answer, then that of every broker."""
    lab.looks.producers(partition.leader, partition, as_=f"leader, {moment}")
    for broker in lab.cluster.topology.brokers:
        lab.looks.producers(broker, partition, as_=f"replicas, {moment}")


def check(seen: Evidence) -> Observations:
    """Each replica answers, shows the open transaction while it is open, and agrees with the leader in all of it."""
    write = seen["open write"]
    own, since = write.request_int("producer_id"), write.answer_int("base_offset")
    for moment, start in ((OPEN, (since,)), (ENDED, ())):
        leaders = seen[f"leader, {moment}"].at("P1")
        for answer in seen.all(f"replicas, {moment}"):
            replica = answer.at("P1")
            taken = expect.accepted(replica, otherwise="replica-refused")
            yield expect.habit(taken) if replica.error == KafkaError.NOT_LEADER_OR_FOLLOWER else taken
            if replica.error == 0:
                open_since = expect.open_since if moment == OPEN else expect.not_open
                yield open_since(replica, own, *start, otherwise="wrong-start-offset")
                yield expect.agree("entries", entries(replica), entries(leaders), answer, otherwise="replica-differs")
    yield from expect.sound(seen, committed=seen["committed write"].written())


def entries(answer: Step) -> list[tuple[Json, ...]]:
    """Id, epoch and last sequence of every producer."""
    named = ("producer_id", "producer_epoch", "last_sequence")
    return [tuple(row.get(name) for name in named) for row in expect.rows(answer, "producers")]


GOOD = adopted(__file__, "KIP664-DP-03")
_DONE = producer_row(7, last_sequence=0)


def answered(moment: str, error: int, *rows: Json) -> Evidence:
    """A sound run, but for what the replicas said then."""
    return GOOD.with_step(f"replicas, {moment}", partitions={"P1": {"error": error, "producers": list(rows)}})


REQUIREMENT = Requirement(
    id="KIP664-DP-03",
    source=Source(664, "DescribeProducers: expected to be sent to any replica"),
    statement="Every in-sync replica of a partition describes its producers, and as the leader does.",
    needs=(Offers("DescribeProducers", 0),),
    access=(Access.BROKERS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("replica-refused", answered(OPEN, 6, _DONE, producer_row(8, since=2, last_sequence=1))),
        Refusal("wrong-start-offset", answered(OPEN, 0, _DONE, producer_row(8, since=3, last_sequence=1))),
        Refusal("wrong-start-offset", answered(ENDED, 0, _DONE, producer_row(8, since=2, last_sequence=1))),
        Refusal("replica-differs", answered(ENDED, 0, producer_row(8, since=-1, last_sequence=1))),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=FOLLOWERS_DESCRIBE_NOTHING, anomaly="replica-refused"),
        Failpoint(rules=FOLLOWERS_KNOW_NO_PRODUCER, anomaly="replica-differs"),
        Failpoint(rules=START_OFFSET_IS_THE_LAST, anomaly="wrong-start-offset"),
    ),
)
