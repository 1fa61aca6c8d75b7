"""KIP664-DP-02: DescribeProducers says since which offset a producer's transaction is open on the partition.

That offset is how an operator finds the transaction that holds the last stable offset back. It is told apart from the
LSO by a second, younger transaction, and from offset 0 by committed data before both.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import START_OFFSET_IS_THE_LAST
from harness.contract.doctored import commit, data, evidence, log, producer_row, producers, sample, written
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab

BATCHES = 3


def stimulus(lab: Lab) -> None:
    """A committed transaction; then three batches of an open one, between which a rival's begins; both end."""
    partition = lab.partition("P1")
    old, young = lab.producer("victim"), lab.producer("rival")
    old.write(partition)
    old.end(commit=True)
    lab.reached(old, "CompleteCommit", as_="earlier")
    for producer in (old, young):
        producer.add(partition)
    for _ in range(BATCHES):
        old.produce(partition, as_="old")
        young.produce(partition, as_="young")
    lab.sample("open", partition)
    lab.observer.producers(partition, as_="while open")
    old.end(commit=True, as_="end")
    young.end(commit=False, as_="end")
    lab.reached(old, "CompleteCommit", as_="ended")
    lab.reached(young, "CompleteAbort", as_="ended")
    lab.observer.producers(partition, as_="afterwards")


def check(seen: Evidence) -> Observations:
    """Each from its own first batch, the oldest at the LSO; none any more after the markers."""
    for writes in (seen.all("old"), seen.all("young")):
        own, first = writes[0].request_int("producer_id"), writes[0].answer_int("base_offset")
        for write in writes:
            yield expect.accepted(write, otherwise="write-refused")
        yield expect.open_since(seen["while open"], own, first, otherwise="wrong-start-offset")
        yield expect.open_since(seen["afterwards"], own, -1, otherwise="still-open-after-marker")
    lso, oldest = seen.sample("open").last_stable_offset, seen.all("old")[0].answer_int("base_offset")
    yield expect.agree("LSO while open", lso, oldest, seen["while open"], otherwise="lso-not-at-oldest")
    yield expect.agree("LSO", seen.log().last_stable_offset, seen.log().high_watermark, otherwise="stuck-lso")


def _open(name: str, old: int, young: int) -> Step:
    return producers(name, producer_row(7, since=old), producer_row(8, since=young))


GOOD = evidence(
    written("old", 11, "b", base_offset=2),
    written("young", 11, "c", producer_id=8, base_offset=3),
    _open("while open", 2, 3),
    _open("afterwards", -1, -1),
    samples=(sample("open", "P1", 4, 2),),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0), data(7, 0, "b"), data(8, 0, "c"), commit(7, 0), commit(8, 0))},
)

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
            Refusal("wrong-start-offset", GOOD.with_step("while open", fields=_open("", *since).fields))
            for since in ((3, 3), (2, 2))
        ),
        Refusal("wrong-start-offset", GOOD.with_step("while open", producers=[])),
        Refusal("still-open-after-marker", GOOD.with_step("afterwards", fields=_open("", 2, -1).fields)),
        Refusal("lso-not-at-oldest", GOOD.with_sample("open", last_stable_offset=4)),
        Refusal("stuck-lso", GOOD.with_log(last_stable_offset=2)),
    ),
    refuted_by=(Failpoint(rules=START_OFFSET_IS_THE_LAST, anomaly="wrong-start-offset"),),
)
