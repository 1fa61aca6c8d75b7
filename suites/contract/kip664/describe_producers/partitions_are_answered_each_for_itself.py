"""KIP664-DP-07: in one DescribeProducers request every partition has its own answer, whatever the others are.

Operators ask for all partitions of a broker at once (KIP-664, "Finding Hanging Transactions"): one that is unknown must
not hide a hanging transaction on the others, nor the producers of one partition be shown for another. That the answers
come in the order of the request is Kafka's. A topic that may not be read is KIP664-DP-06's.
"""

from harness.base.json_value import Json
from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.looks_rules import (
    FIRST_TOPIC_ANSWERED_TWICE,
    ONE_UNKNOWN_PARTITION_FAILS_ALL,
    PRODUCERS_OF_ANOTHER_PARTITION,
    TOPICS_ANSWERED_BACKWARDS,
)
from harness.contract.doctored import adopted, producer_row, unsound
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab

UNKNOWN = KafkaError.UNKNOWN_TOPIC_OR_PARTITION
NOWHERE, NO_INDEX = "fencepost-there-is-no-such-topic", 999_999
ALIASES = ("P1", "P2")


def stimulus(lab: Lab) -> None:
    """Two topics with a transaction each, one of them asked about in two more ways, and an unknown topic between."""
    first = lab.partition("P1")
    second = lab.partition("P2", leader=first.leader)
    for partition, txn in ((first, lab.producer("victim")), (second, lab.producer("rival"))):
        txn.write(partition)  # the first record of both, so that only its second batch tells the partitions apart
        txn.end(commit=True)
        lab.completed(partition)
        txn.add(partition)
        txn.produce(partition, as_=f"open write to {partition.alias}")
    places = (first, (first.topic, NO_INDEX), (NOWHERE, 0), second)
    lab.note("unknown", [f"{first.topic}-{NO_INDEX}", f"{NOWHERE}-0"])
    lab.looks.producers(first.leader, *places, as_="all")
    lab.looks.producers(first.leader, second, as_="second alone")
    for txn in lab.producers:
        txn.end(commit=True)
    lab.completed()


def check(seen: Evidence) -> Observations:
    """One answer for each that was asked about: the known ones described, the unknown ones refused."""
    every, alone = seen["all"], seen["second alone"].at("P2")
    asked, unknown = every.request["partitions"], seen.fact("unknown")
    answered = list(every.fields["partitions"]) if isinstance(every.fields["partitions"], dict) else []
    yield expect.agree("number of answers", every.fields["answers"], 4, every, otherwise="not-one-answer-each")
    yield expect.habit(expect.agree("order of answers", answered, asked, every, otherwise="another-order"))
    for name in unknown if isinstance(unknown, list) else ():
        yield expect.refused(every.at(str(name)), UNKNOWN, otherwise="unknown-partition-described")
    for alias in ALIASES:
        write, answer = seen[f"open write to {alias}"], every.at(alias)
        own, since = write.request_int("producer_id"), write.answer_int("base_offset")
        yield expect.accepted(answer, otherwise="known-partition-refused")
        yield expect.open_since(answer, own, since, otherwise="wrong-start-offset")
        rows = answer.fields.get("producers")
        listed = [row.get("producer_id") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        yield expect.agree(f"producers of {alias}", listed, [own], every, otherwise="producer-of-another-partition")
        yield from expect.sound(seen, alias, shown="committed-record-lost")
    by_itself, among = ([one.fields.get(name) for name in ("error", "producers")] for one in (alone, every.at("P2")))
    yield expect.agree("P2 among others", among, by_itself, alone, every, otherwise="differs-from-one-alone")


GOOD = adopted(__file__, "KIP664-DP-07")
_PARTS: dict[str, Json] = dict(GOOD["all"].fields["partitions"])  # type: ignore[arg-type]
_NAMES = list(_PARTS)
_FIRST, _SECOND, _OTHER = producer_row(7, since=2), producer_row(7, since=3), producer_row(8)


def part(name: str, answer: Json) -> Evidence:
    """A sound run, but for the answer about this partition."""
    return GOOD.with_step("all", partitions={**_PARTS, name: answer})


REQUIREMENT = Requirement(
    id="KIP664-DP-07",
    source=Source(664, "DescribeProducers: request and response schema"),
    statement="Several partitions in one request are answered each for itself.",
    needs=(Offers("DescribeProducers", 0),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("not-one-answer-each", GOOD.with_step("all", answers=3)),
        Refusal("another-order", GOOD.with_step("all", partitions=dict(reversed(_PARTS.items())))),
        *(Refusal("unknown-partition-described", part(name, {"error": 0})) for name in _NAMES[1:3]),
        Refusal("wrong-error", part(_NAMES[2], {"error": KafkaError.INVALID_REQUEST})),
        Refusal("unanswered", part(_NAMES[2], {})),
        Refusal("known-partition-refused", part("P1", {"error": UNKNOWN, "producers": [_FIRST]})),
        Refusal("wrong-start-offset", part("P1", {"error": 0, "producers": [_SECOND]})),
        Refusal(
            "producer-of-another-partition",
            part("P1", {"error": 0, "producers": [_FIRST, _OTHER]}),
        ),
        Refusal("differs-from-one-alone", GOOD.with_step("second alone", partitions={"P2": {"error": UNKNOWN}})),
        *unsound(GOOD, "P2", appended=None, shown="committed-record-lost"),
    ),
    refuted_by=(
        Failpoint(rules=ONE_UNKNOWN_PARTITION_FAILS_ALL, anomaly="known-partition-refused"),
        Failpoint(rules=PRODUCERS_OF_ANOTHER_PARTITION, anomaly="producer-of-another-partition"),
        Failpoint(rules=FIRST_TOPIC_ANSWERED_TWICE, anomaly="not-one-answer-each"),
        Failpoint(rules=TOPICS_ANSWERED_BACKWARDS, anomaly="another-order"),
        Liar(
            api="DescribeProducers", fields={"last_sequence": 4711}, skip=1, at_most=1, anomaly="differs-from-one-alone"
        ),
    ),
)
