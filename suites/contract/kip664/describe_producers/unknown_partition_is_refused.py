"""KIP664-DP-05: DescribeProducers of what does not exist is refused, and not answered with no producers.

KIP-664 promises UNKNOWN_TOPIC_OR_PARTITION "if either the topic or partition is not known to exist". For a name that no
topic can have it names no code; Kafka answers INVALID_TOPIC_EXCEPTION
(``KafkaApis.checkValidTopic``), and UNKNOWN_TOPIC_OR_PARTITION would be true as well.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.looks_rules import ONE_UNKNOWN_PARTITION_FAILS_ALL, UNKNOWN_TOPICS_DESCRIBED
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab

UNKNOWN, INVALID = KafkaError.UNKNOWN_TOPIC_OR_PARTITION, KafkaError.INVALID_TOPIC_EXCEPTION
NOWHERE, MALFORMED = "fencepost-there-is-no-such-topic", "fencepost/no-name-of-a-topic"
NO_INDEX = 999_999


def stimulus(lab: Lab) -> None:
    """A partition with an open transaction is asked about; then a topic, an index and a name that are not."""
    partition, txn = lab.partition("P1"), lab.producer()
    txn.write(partition)
    lab.looks.producers(partition.leader, partition, as_="known")
    places = {"topic": (NOWHERE, 0), "index": (partition.topic, NO_INDEX), "name": (MALFORMED, 0)}
    for what, place in places.items():
        lab.note(what, f"{place[0]}-{place[1]}")
        lab.looks.producers(partition.leader, place, as_=f"no such {what}")
    txn.end(commit=True)
    lab.completed(partition)


def check(seen: Evidence) -> Observations:
    """What exists is described; what does not is refused and shows no producers."""
    known = seen["known"].at("P1")
    yield expect.accepted(known, otherwise="known-partition-refused")
    for what in ("topic", "index", "name"):
        answer = seen[f"no such {what}"].at(str(seen.fact(what)))
        if what == "name":
            yield expect.refused(answer, INVALID, code=Level.SHOULD, otherwise="unknown-partition-described")
        else:
            yield expect.refused(answer, UNKNOWN, otherwise="unknown-partition-described")
        yield expect.shows(answer, producers=[], otherwise="unknown-partition-described")
    yield from expect.sound(seen, shown="committed-record-lost")


GOOD = adopted(__file__, "KIP664-DP-05")


def answered(what: str, error: int | None, producers: tuple[int, ...] = ()) -> Evidence:
    """A sound run, but for the answer about one of them."""
    part = {"error": error, "producers": [{"producer_id": each} for each in producers]}
    return GOOD.with_step(f"no such {what}", partitions={str(GOOD.fact(what)): part})


REQUIREMENT = Requirement(
    id="KIP664-DP-05",
    source=Source(664, "DescribeProducers: possible errors"),
    statement="A topic or partition that does not exist is refused, not described as one without producers.",
    needs=(Offers("DescribeProducers", 0),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("known-partition-refused", GOOD.with_step("known", partitions={"P1": {"error": UNKNOWN}})),
        *(Refusal("unknown-partition-described", answered(what, 0)) for what in ("topic", "index", "name")),
        Refusal("unknown-partition-described", answered("topic", UNKNOWN, producers=(7,))),
        Refusal("wrong-error", answered("topic", KafkaError.NOT_LEADER_OR_FOLLOWER)),
        Refusal("wrong-error", answered("index", KafkaError.NOT_LEADER_OR_FOLLOWER)),
        Refusal("unanswered", answered("index", None)),
        Refusal("wrong-error", answered("name", UNKNOWN)),
        *unsound(GOOD, appended=None, shown="committed-record-lost"),
    ),
    refuted_by=(
        Failpoint(rules=UNKNOWN_TOPICS_DESCRIBED, anomaly="unknown-partition-described"),
        Failpoint(rules=ONE_UNKNOWN_PARTITION_FAILS_ALL, anomaly="known-partition-refused"),
    ),
)
