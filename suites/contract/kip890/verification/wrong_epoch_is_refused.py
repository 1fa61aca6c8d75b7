"""KIP890-VERIFY-05: the first write of a transaction to a partition comes with the coordinator's epoch or not at all.

The partition has never seen the producer, so its leader alone could not know a zombie; the coordinator does. Its
PRODUCER_FENCED is told to producers as INVALID_PRODUCER_EPOCH, which older clients understand.
"""

from collections.abc import Iterator

from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Refusal,
    Release,
    Requirement,
    Setting,
    Source,
    accepted,
    agree,
    refused,
)
from harness.contract.byteman.verification_rules import ANY_EPOCH_VERIFIED
from harness.contract.doctored import commit, data, evidence, log, step
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab

VERSIONS = (9, 11)


def stimulus(lab: Lab) -> None:
    """The id is initialised twice; then batches of its first epoch and of one yet to come, and one of its own."""
    partition = lab.partition("P1")
    txn = lab.producer("victim")
    stale = txn.epoch
    txn.init()
    lab.unless(lambda: txn.epoch > stale, "a second InitProducerId did not raise the epoch")
    txn.add(partition)
    for version in lab.offered("Produce", VERSIONS):
        txn.produce(partition, as_="stale write", version=version, epoch=stale, sequence=0)
        txn.produce(partition, as_="premature write", version=version, epoch=stale + 5, sequence=0)
    txn.produce(partition, as_="own write")
    txn.end(commit=True)


def check(seen: Evidence) -> Iterator[Observation]:
    """Each wrong epoch is refused with 47, never 90; the log has the record of the right epoch alone, committed."""
    for write in seen.all("stale write"):
        yield refused(write, 47, otherwise="stale-epoch-accepted")
    for write in seen.all("premature write"):
        yield refused(write, 47, otherwise="premature-epoch-accepted")
    own, truth = seen["own write"], seen.log()
    yield accepted(own, otherwise="own-write-refused")
    yield agree("values in the log", truth.values(), own.written(), own, otherwise="log-differs")
    yield agree("committed values", truth.committed, truth.values(), own, otherwise="committed-view-differs")
    yield agree("last stable offset", truth.last_stable_offset, truth.high_watermark, otherwise="hanging-transaction")


GOOD = evidence(
    step("stale write", "Produce", 9, error=47),
    step("premature write", "Produce", 9, error=47),
    step("stale write", "Produce", 11, error=47),
    step("premature write", "Produce", 11, error=47),
    step("own write", "Produce", 11, request={"values": ["a"]}),
    logs={"P1": log(data(7, 1, "a"), commit(7, 1))},
)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-05",
    level=Level.MUST,
    source=Source(890, "Old Clients / Produce Requests (INVALID_PRODUCER_EPOCH)"),
    statement="The first write to a partition in another epoch than the coordinator's is refused as a stale epoch.",
    needs=(Offers("Produce", 9),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("stale-epoch-accepted", GOOD.with_step("stale write", error=0)),
        Refusal("premature-epoch-accepted", GOOD.with_step("premature write", error=0)),
        Refusal("wrong-error", GOOD.with_step("stale write", error=90)),
        Refusal("unanswered", GOOD.with_step("premature write", error=None)),
        Refusal("own-write-refused", GOOD.with_step("own write", error=47)),
        Refusal("log-differs", GOOD.with_log("P1", log(data(7, 0, "x"), data(7, 1, "a"), commit(7, 1)))),
        Refusal("committed-view-differs", GOOD.with_log("P1", committed=())),
        Refusal("hanging-transaction", GOOD.with_log("P1", last_stable_offset=0)),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="stale-epoch-accepted"),
        Setting(key="transaction.partition.verification.enable", value="false", anomaly="stale-epoch-accepted"),
        Failpoint(rules=ANY_EPOCH_VERIFIED, anomaly="premature-epoch-accepted"),
    ),
)
