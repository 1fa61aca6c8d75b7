"""KIP664-DP-02: DescribeProducers says since which offset a producer's transaction is open on the partition.

That offset is how an operator finds the transaction that holds the last stable offset back. It is told apart from the
LSO by a second, younger transaction, and from offset 0 by committed data before both. The older one ends first: then
the younger one alone holds readers back, and what they are shown is compared each time. All of it is the KIP's; that a
producer without a transaction is listed at all is Kafka's and not asked.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import NO_FIRST_UNSTABLE_OFFSET, START_OFFSET_IS_THE_LAST
from harness.contract.doctored import adopted, producer_row, producers
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab, Partition

BATCHES = 3
BOTH, ONE, NONE = "both open", "one open", "none open"


def stimulus(lab: Lab) -> None:
    """A committed transaction; then three batches of an open one, between which a rival's begins; both end."""
    partition = lab.partition("P1")
    old, young = lab.producer("victim"), lab.producer("rival")
    old.write(partition)
    old.end(commit=True)
    lab.completed(partition)
    oldest = lab.observer.end_offset(partition)
    for producer in (old, young):
        producer.add(partition)
    for _ in range(BATCHES):
        old.produce(partition, as_="old")
        young.produce(partition, as_="young")
    look(lab, partition, BOTH)
    old.end(commit=True, as_="end")
    lab.passed(partition, oldest)
    look(lab, partition, ONE)
    young.end(commit=False, as_="end")
    lab.completed(partition)
    look(lab, partition, NONE)


def look(lab: Lab, partition: Partition, moment: str) -> None:
    """What the leader lists, where readers stop and what they are shown."""
    lab.sample(moment, partition)
    lab.observer.producers(partition, as_=moment)
    lab.note(moment, list(lab.observer.log(partition).committed))


def check(seen: Evidence) -> Observations:
    """Each from its own first batch while it is open, the oldest at the LSO; none any more after the markers."""
    firsts = seen.all("old")[0], seen.all("young")[0]
    for write in (*seen.all("old"), *seen.all("young")):
        yield expect.accepted(write, otherwise="write-refused")
    for moment, still_open in ((BOTH, firsts), (ONE, firsts[1:]), (NONE, ())):
        for write in firsts:
            own, since = write.request_int("producer_id"), write.answer_int("base_offset")
            if write in still_open:
                yield expect.open_since(seen[moment], own, since, otherwise="wrong-start-offset")
            else:
                yield expect.not_open(seen[moment], own, otherwise="still-open-after-marker")
        yield from readers(seen, moment, still_open)


def readers(seen: Evidence, moment: str, still_open: tuple[Step, ...]) -> Observations:
    """They stop at the oldest open transaction and are shown what was committed before it."""
    lso, end = seen.sample(moment).last_stable_offset, seen.sample(moment).high_watermark
    oldest = min((write.answer_int("base_offset") for write in still_open), default=end)
    yield expect.agree(f"LSO, {moment}", lso, oldest, seen[moment], otherwise="lso-not-at-oldest")
    own = seen.all("young")[0].request_int("producer_id")
    below = [batch for batch in seen.log().batches if batch.base_offset < oldest and batch.producer_id != own]
    values = [value for batch in below for value in batch.values]
    yield expect.agree(f"shown, {moment}", seen.fact(moment), values, seen[moment], otherwise="wrong-records-shown")


def _open(name: str, old: int, young: int) -> Step:
    return producers(name, producer_row(7, since=old), producer_row(8, since=young))


GOOD = adopted(__file__, "KIP664-DP-02")
_FIRST, _OLD, _YOUNG, *_ = GOOD.log().values()

REQUIREMENT = Requirement(
    id="KIP664-DP-02",
    source=Source(664, "DescribeProducers"),
    statement="CurrentTxnStartOffset is the offset of the open transaction's first record, and -1 when none is open.",
    needs=(Offers("DescribeProducers", 0),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("write-refused", GOOD.with_step("young", error=KafkaError.INVALID_TXN_STATE)),
        *(
            Refusal("wrong-start-offset", GOOD.with_step(BOTH, fields=_open("", *since).fields))
            for since in ((3, 3), (2, 2))
        ),
        Refusal("wrong-start-offset", GOOD.with_step(ONE, producers=[])),
        Refusal("still-open-after-marker", GOOD.with_step(ONE, fields=_open("", 2, 3).fields)),
        Refusal("still-open-after-marker", GOOD.with_step(NONE, fields=_open("", -1, 3).fields)),
        Refusal("lso-not-at-oldest", GOOD.with_sample(BOTH, last_stable_offset=4)),
        Refusal("lso-not-at-oldest", GOOD.with_sample(NONE, last_stable_offset=3)),
        Refusal("wrong-records-shown", GOOD.with_fact(ONE, [_FIRST])),
        Refusal("wrong-records-shown", GOOD.with_fact(ONE, [_FIRST, _OLD, _YOUNG])),
    ),
    refuted_by=(
        Failpoint(rules=START_OFFSET_IS_THE_LAST, anomaly="wrong-start-offset"),
        Failpoint(rules=NO_FIRST_UNSTABLE_OFFSET, anomaly="lso-not-at-oldest"),
    ),
)
