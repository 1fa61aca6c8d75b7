"""KIP664-DP-02: DescribeProducers says since which offset a producer's transaction is open on the partition.

That offset is how an operator finds the transaction that holds the last stable offset back. It is told apart from the
LSO by a second, younger transaction, and from offset 0 by committed data before both.
"""

from collections.abc import Iterator

from harness.base.json_value import Json
from harness.contract import Failpoint, Level, Observation, Offers, Refusal, Requirement, Source, accepted, agree, row
from harness.contract.byteman.leader_rules import START_OFFSET_IS_THE_LAST
from harness.contract.doctored import commit, data, evidence, log, sample, step
from harness.evidence.requirement_evidence import Evidence
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


def check(seen: Evidence) -> Iterator[Observation]:
    """Each from its own first batch, the oldest at the LSO; none any more after the markers."""
    for name in ("old", "young"):
        writes = seen.all(name)
        for write in writes:
            yield accepted(write, otherwise="write-refused")
        promised = writes[0].number("base_offset")
        since = _since(seen, "while open", writes[0].request["producer_id"])
        yield agree(
            f"{name} open since", since, promised, writes[0], seen["while open"], otherwise="wrong-start-offset"
        )
        after = _since(seen, "afterwards", writes[0].request["producer_id"])
        yield agree(f"{name} open since", after, -1, seen["afterwards"], otherwise="still-open-after-marker")
    lso, oldest = seen.sample("open").last_stable_offset, seen.all("old")[0].number("base_offset")
    yield agree("LSO while open", lso, oldest, seen["while open"], otherwise="lso-not-at-oldest")
    yield agree("LSO", seen.log().last_stable_offset, seen.log().high_watermark, otherwise="stuck-lso")


def _since(seen: Evidence, when: str, producer_id: Json) -> Json:
    return row(seen[when], "producers", producer_id=producer_id).get("current_txn_start_offset")


def _producers(old: int, young: int) -> list[Json]:
    return [
        {"producer_id": 7, "current_txn_start_offset": old},
        {"producer_id": 8, "current_txn_start_offset": young},
    ]


GOOD = evidence(
    step("old", "Produce", 11, base_offset=2, request={"producer_id": 7}),
    step("young", "Produce", 11, base_offset=3, request={"producer_id": 8}),
    step("while open", "DescribeProducers", 0, producers=_producers(2, 3)),
    step("afterwards", "DescribeProducers", 0, producers=_producers(-1, -1)),
    samples=(sample("open", "P1", 4, 2),),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0), data(7, 0, "b"), data(8, 0, "c"), commit(7, 0), commit(8, 0))},
)

REQUIREMENT = Requirement(
    id="KIP664-DP-02",
    level=Level.MUST,
    source=Source(664, "DescribeProducers"),
    statement="CurrentTxnStartOffset is the offset of the open transaction's first record, and -1 when none is open.",
    needs=(Offers("DescribeProducers", 0),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("write-refused", GOOD.with_step("young", error=48)),
        Refusal("wrong-start-offset", GOOD.with_step("while open", producers=_producers(3, 3))),
        Refusal("wrong-start-offset", GOOD.with_step("while open", producers=_producers(2, 2))),
        Refusal("wrong-start-offset", GOOD.with_step("while open", producers=[])),
        Refusal("still-open-after-marker", GOOD.with_step("afterwards", producers=_producers(2, -1))),
        Refusal("lso-not-at-oldest", GOOD.with_sample("open", last_stable_offset=4)),
        Refusal("stuck-lso", GOOD.with_log(last_stable_offset=2)),
    ),
    refuted_by=(Failpoint(rules=START_OFFSET_IS_THE_LAST, anomaly="wrong-start-offset"),),
)
