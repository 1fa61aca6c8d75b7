"""KIP890-VERIFY-05: the first write of a transaction to a partition must carry the coordinator's epoch.

The partition has never seen the producer, so its leader alone could not know a zombie; the coordinator does. Its
PRODUCER_FENCED is answered to producers as INVALID_PRODUCER_EPOCH, which older clients understand. That a record in a
wrong epoch is refused is the KIP's ("we will ensure that any produce requests are using the correct epoch"); it names
no code, so the code is Kafka's.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.verification_rules import ANY_EPOCH_VERIFIED
from harness.contract.doctored import commit, data, evidence, log, refused_write, unsound, written
from harness.contract.refuters import VERIFICATION, Failpoint, Release, Setting
from harness.lab import Lab

STALE = KafkaError.INVALID_PRODUCER_EPOCH


def stimulus(lab: Lab) -> None:
    """The id is initialised twice; then batches of its first epoch and of one yet to come, and one of its own."""
    partition = lab.partition("P1")
    txn = lab.producer("victim")
    stale = txn.epoch
    txn.init()
    lab.unless(lambda: txn.epoch > stale, "a second InitProducerId did not raise the epoch")
    txn.add(partition)
    for version in lab.offered("Produce", (9, 11)):
        txn.produce(partition, as_="stale write", version=version, epoch=stale, sequence=0)
        txn.produce(partition, as_="premature write", version=version, epoch=stale + 5, sequence=0)
    txn.produce(partition, as_="own write")
    txn.end(commit=True)


def check(seen: Evidence) -> Observations:
    """Each wrong epoch is refused as a wrong epoch; the log has the record of the right one alone, committed."""
    for which in ("stale", "premature"):
        for write in seen.all(f"{which} write"):
            yield expect.refused(write, STALE, otherwise=f"{which}-epoch-accepted", code=Level.SHOULD)
    own = seen["own write"]
    yield expect.accepted(own, otherwise="own-write-refused")
    yield from expect.sound(
        seen, "P1", own.written(), appended="log-differs", shown="committed-view-differs", stuck="hanging-transaction"
    )


GOOD = evidence(
    *(refused_write(f"{which} write", version, STALE) for version in (9, 11) for which in ("stale", "premature")),
    written("own write", 11, "a"),
    logs={"P1": log(data(7, 1, "a"), commit(7, 1))},
)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-05",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="The first write to a partition in another epoch than the coordinator's is refused.",
    needs=(Offers("Produce", 9),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("stale-epoch-accepted", GOOD.with_step("stale write", error=0)),
        Refusal("premature-epoch-accepted", GOOD.with_step("premature write", error=0)),
        Refusal("wrong-error", GOOD.with_step("stale write", error=KafkaError.PRODUCER_FENCED)),
        Refusal("unanswered", GOOD.with_step("premature write", error=None)),
        Refusal("own-write-refused", GOOD.with_step("own write", error=STALE)),
        *unsound(GOOD, "P1", appended="log-differs", shown="committed-view-differs", stuck="hanging-transaction"),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="stale-epoch-accepted"),
        Setting(key=VERIFICATION, value="false", anomaly="stale-epoch-accepted"),
        Failpoint(rules=ANY_EPOCH_VERIFIED, anomaly="premature-epoch-accepted"),
    ),
)
