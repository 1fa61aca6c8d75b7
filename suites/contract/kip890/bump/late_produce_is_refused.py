"""KIP890-BUMP-05: what arrives after its transaction has ended must not enter the log of any of its partitions."""

from collections.abc import Iterator

from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Refusal,
    Requirement,
    Source,
    agree,
    refused,
    struck,
)
from harness.contract.doctored import commit, data, evidence, held_link, log, step
from harness.history.evidence import Evidence
from harness.lab import Lab
from toxics.network.hold import hold

VERSIONS = (11, 12)


def stimulus(lab: Lab) -> None:
    """A transaction writes and ends; a second record of it lies on the link until the marker is written."""
    for version in lab.offered("Produce", VERSIONS):
        txn = lab.producer("victim", protocol=2)
        partition = lab.partition(f"P{version}")
        txn.write(partition)
        with hold(lab, txn.lane_to(partition.leader), name=f"hold v{version}") as held:
            late = txn.start_produce(partition, version=version)
            txn.end(commit=True)
            lab.completed(partition)
            held.release()
            late.answer(as_="late produce")


def check(seen: Evidence) -> Iterator[Observation]:
    """Each late produce, held past the end of its transaction, is refused with 47 and leaves no trace."""
    for late in seen.all("late produce"):
        struck(seen, late, by=f"hold v{late.version}")
        yield refused(late, 47, otherwise="late-produce-accepted")
        truth = seen.log(f"P{late.version}")
        yield agree("data records in the log", len(truth.values()), 1, late, otherwise="late-record-appended")


GOOD = evidence(
    step("late produce", "Produce", 11, error=47, held=20),
    step("late produce", "Produce", 12, error=47, held=20),
    logs={"P11": log(data(7, 0, "a"), commit(7, 1)), "P12": log(data(8, 0, "b"), commit(8, 1))},
    faults=(held_link("hold v11"), held_link("hold v12")),
)

REQUIREMENT = Requirement(
    id="KIP890-BUMP-05",
    level=Level.MUST,
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="A record of the finished transaction that arrives late is refused on every partition of it.",
    needs=(Offers("EndTxn", 5),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("late-produce-accepted", GOOD.with_step("late produce", error=0)),
        Refusal("wrong-error", GOOD.with_step("late produce", error=48)),
        Refusal("late-record-appended", GOOD.with_log("P12", log(data(8, 0, "b"), commit(8, 1), data(8, 0, "late")))),
    ),
    refuted_by=(
        Failpoint(
            rules="""
RULE the leader forgets that the epoch was bumped
CLASS org.apache.kafka.storage.internals.log.ProducerAppendInfo
METHOD checkProducerEpoch
IF true
DO return
ENDRULE
""",
            anomaly="wrong-error",
        ),
    ),
)
