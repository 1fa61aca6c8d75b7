"""KIP890-VERIFY-06: a write to an added partition is accepted, and its leader then keeps the transaction as open.

The other side of the defence: it lets through what is right, and a reader of committed records is stopped exactly
before the first record of the oldest open transaction, by Fetch and by ListOffsets. Two producers are open at once; the
second version shows it away from offset 0. What a leader lists of its producers is looked at where it can be.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import NO_FIRST_UNSTABLE_OFFSET
from harness.contract.byteman.verification_rules import NO_PARTITION_VERIFIED
from harness.contract.doctored import (
    commit,
    data,
    evidence,
    log,
    producer_row,
    producers,
    sample,
    step,
    unsound,
    written,
)
from harness.contract.refuters import Failpoint, Liar
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """For each version two transactions add and write; they are looked at while both are open and while one is."""
    old, young, partition = lab.producer("victim"), lab.producer("rival"), lab.partition("P1")
    for version in lab.offered("Produce", (9, 11)):
        old.add(partition)
        young.add(partition)
        first = old.produce(partition, as_="first write", version=version)
        young.produce(partition, as_="second write", version=version)
        lab.sample(f"both open v{version}", partition)
        lab.observer.last_stable_offset(partition, as_="stable offset")
        lab.observer.producers(partition, as_="producers")
        old.end(commit=True)
        lab.passed(partition, int(str(first.fields.get("base_offset", -1))))
        lab.sample(f"one open v{version}", partition)
        young.end(commit=True)


def check(seen: Evidence) -> Observations:
    """Each is accepted and open from its BaseOffset; readers stop at the oldest; at the end all are committed."""
    firsts, seconds = seen.all("first write"), seen.all("second write")
    looks = zip(seen.all("stable offset"), seen.all("producers"), strict=True)
    for first, second, (listed, leader) in zip(firsts, seconds, looks, strict=True):
        for write in (first, second):
            yield expect.accepted(write, otherwise="added-write-refused")
        if first.error == second.error == 0:
            yield from opened(seen, first, second, leader)
            base = first.answer_int("base_offset")
            yield expect.shows(listed, offset=base, otherwise="wrong-listed-offset")
    values = [value for both in zip(firsts, seconds, strict=True) for write in both for value in write.written()]
    yield from expect.sound(seen, "P1", values, appended="log-differs", shown="committed-view-differs")


def opened(seen: Evidence, first: Step, second: Step, leader: Step) -> Observations:
    """Open on the leader from its own record each; the last stable offset is the oldest's."""
    for write, moment in ((first, "both open"), (second, "one open")):
        base, lso = write.answer_int("base_offset"), seen.sample(f"{moment} v{write.version}").last_stable_offset
        own = write.request_int("producer_id")
        yield expect.open_since(leader, own, base, otherwise="transaction-not-opened")
        yield expect.agree(f"last stable offset, {moment}", lso, base, write, otherwise="reader-not-stopped")


def _open(old: int, young: int) -> Step:
    return producers("producers", producer_row(7, since=old), producer_row(8, since=young))


GOOD = evidence(
    written("first write", 9, "a", base_offset=4),
    written("second write", 9, "b", producer_id=8, base_offset=5),
    step("stable offset", "ListOffsets", 7, offset=4),
    _open(4, 5),
    logs={"P1": log(data(7, 0, "a"), data(8, 0, "b"), commit(7, 0), commit(8, 0))},
    samples=(sample("both open v9", "P1", 6, 4), sample("one open v9", "P1", 7, 5)),
)
_LATER = log(data(8, 0, "b"), commit(8, 0))

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-06",
    source=Source(890, "Ensure Ongoing Transaction for Older Clients (3)"),
    statement="A write to an added partition is accepted and opens the transaction on the partition's leader.",
    needs=(Offers("Produce", 9),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("added-write-refused", GOOD.with_step("first write", error=KafkaError.NOT_ENOUGH_REPLICAS)),
        Refusal("transaction-not-opened", GOOD.with_step("producers", producers=[])),
        Refusal("transaction-not-opened", GOOD.with_step("producers", fields=_open(4, 4).fields)),
        *(Refusal("reader-not-stopped", GOOD.with_sample("both open v9", last_stable_offset=lso)) for lso in (3, 6)),
        *(Refusal("reader-not-stopped", GOOD.with_sample("one open v9", last_stable_offset=lso)) for lso in (4, 7)),
        *(Refusal("wrong-listed-offset", GOOD.with_step("stable offset", offset=lso)) for lso in (0, 6)),
        Refusal("log-differs", GOOD.with_log("P1", _LATER, committed=("a", "b"))),
        *unsound(GOOD, "P1", appended="log-differs", shown="committed-view-differs"),
    ),
    refuted_by=(
        Failpoint(rules=NO_PARTITION_VERIFIED, anomaly="added-write-refused"),
        Failpoint(rules=NO_FIRST_UNSTABLE_OFFSET, anomaly="reader-not-stopped"),
        Liar(api="DescribeProducers", fields={"current_txn_start_offset": -1}, anomaly="transaction-not-opened"),
        Liar(api="ListOffsets", shift={"offset": 1}, anomaly="wrong-listed-offset"),
    ),
)
