"""KIP890-SEQ-01: a new client's first batch on a partition must begin at sequence 0; else records were missed.

The KIP's: "for new clients, we can once again return an error for sequences that are non-zero when there is no producer
state present on the server", by "the retriable OutOfOrderSequence error". Kafka does so since 4.1 (KAFKA-18202).
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import NO_SEQUENCE_CHECK
from harness.contract.doctored import abort, commit, data, ended, evidence, log, refused_write, sample, unsound, written
from harness.contract.refuters import Failpoint, Release
from harness.lab import Lab

GAP = KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER


def stimulus(lab: Lab) -> None:
    """A first batch that begins at 3; the transaction is aborted, and the next one begins at 0."""
    partition = lab.partition("P1")
    for version in lab.offered("Produce", (12, 13)):
        txn = lab.producer(protocol=2)
        txn.produce(partition, version=version, sequence=3, as_="gap", retry=())
        lab.sample(f"refused v{version}", partition)
        txn.end(commit=False, as_="abort")
        txn.produce(partition, version=version, sequence=0, as_="next write")
        txn.end(commit=True, as_="commit")


def check(seen: Evidence) -> Observations:
    """Out of order, nothing appended; the next transaction's write is accepted and alone committed."""
    for gap in seen.all("gap"):
        yield expect.refused(gap, GAP, otherwise="gap-accepted")
        yield expect.stable(seen.sample(f"refused v{gap.version}"), gap, otherwise="gap-accepted")
    nexts = seen.all("next write")
    for step in (*seen.all("abort"), *nexts, *seen.all("commit")):
        yield expect.accepted(step, otherwise="retry-refused")
    yield from expect.sound(seen, "P1", [value for write in nexts for value in write.written()])


GOOD = evidence(
    refused_write("gap", 12, GAP),
    ended("abort", committed=False),
    written("next write", 12, "a"),
    ended("commit", epoch=1),
    samples=(sample("refused v12", "P1", 0, 0),),
    logs={"P1": log(abort(7, 1), data(7, 1, "a"), commit(7, 2))},
)

REQUIREMENT = Requirement(
    id="KIP890-SEQ-01",
    source=Source(890, "Return Error for Non-Zero Sequence on New Producers"),
    statement="A new client's first batch on a partition is refused when its sequence is not 0.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("gap-accepted", GOOD.with_step("gap", error=0)),
        Refusal("gap-accepted", GOOD.with_sample("refused v12", high_watermark=1)),
        Refusal("unanswered", GOOD.with_step("gap", error=None)),
        Refusal("wrong-error", GOOD.with_step("gap", error=KafkaError.UNKNOWN_PRODUCER_ID)),
        *(Refusal("retry-refused", GOOD.with_step(one, error=GAP)) for one in ("abort", "next write", "commit")),
        *unsound(GOOD),
    ),
    refuted_by=(
        Release(version="4.0.2", anomaly="gap-accepted"),
        Failpoint(rules=NO_SEQUENCE_CHECK, anomaly="gap-accepted"),
    ),
)
