"""KIP360-INIT-12: a zombie that shows its old identity does no harm to the open transaction of the newer producer.

The KIP has the epochs compared before anything is done: "the transaction coordinator will verify that the provided
epoch matches the current epoch and only allow the version bump if it does". Kafka compares only the producer id while a
transaction is open (``TransactionCoordinator.prepareInitProducerIdTransit``): it aborts the transaction of the producer
who did everything right, and fences the zombie too. An identity with another producer id is refused at once, and so is
each of them when nothing is open.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.doctored import commit, data, described, ended, evidence, log, step, unsound, written
from harness.contract.refuters import Release
from harness.lab import Lab

FENCED = (KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH)


def stimulus(lab: Lab) -> None:
    """On each version: a rival takes the id over and writes; the one before shows its identity; the rival commits."""
    partition = lab.partition("P1")
    for version in lab.offered("InitProducerId", (3, 4, 5)):
        zombie, stranger = lab.producer(), lab.producer()
        newer = lab.same_id(zombie.transactional_id, zombie.coordinator, "rival")
        newer.add(partition)
        newer.produce(partition, as_="write")
        zombie.init(version=version, identity=(stranger.producer_id, 0), retry=(), adopt=False, as_="another id")
        zombie.init(version=version, identity=(zombie.producer_id, 0), retry=(), adopt=False, as_="old epoch")
        lab.observer.transaction(newer.transactional_id, newer.coordinator, as_="kept")
        newer.end(commit=True, as_="newer's commit")
        lab.settled()


def check(seen: Evidence) -> Observations:
    """The zombie is refused for good, the transaction stays as it was, and what was written is committed."""
    for zombie in (*seen.all("another id"), *seen.all("old epoch")):
        yield expect.refused(zombie, *FENCED, code=Level.SHOULD, otherwise="zombie-not-fenced")
    for kept in seen.all("kept"):
        yield expect.keeps(kept, state="Ongoing", partitions=("P1",), otherwise="newer-transaction-aborted")
    for end in seen.all("newer's commit"):
        yield expect.accepted(end, otherwise="newer-producer-fenced")
    values = [value for step_ in seen.all("write") for value in step_.written()]
    yield from expect.sound(seen, "P1", values, shown="newer-records-not-shown")


GOOD = evidence(
    written("write", 11, "a"),
    step("another id", "InitProducerId", 4, error=KafkaError.PRODUCER_FENCED),
    step("old epoch", "InitProducerId", 4, error=KafkaError.PRODUCER_FENCED),
    described("kept", "Ongoing", epoch=1, partitions=("P1",)),
    ended("newer's commit", version=4, epoch=1),
    logs={"P1": log(data(7, 1, "a"), commit(7, 1))},
)

REQUIREMENT = Requirement(
    id="KIP360-INIT-12",
    source=Source(360, "Proposed Changes: only allow the version bump if the epoch matches"),
    statement="A stale identity does not disturb the transaction of the newer producer.",
    needs=(Offers("InitProducerId", 3),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("zombie-not-fenced", GOOD.with_step("old epoch", error=0)),
        Refusal("zombie-not-fenced", GOOD.with_step("another id", error=0)),
        Refusal("wrong-error", GOOD.with_step("old epoch", error=KafkaError.CONCURRENT_TRANSACTIONS)),
        Refusal("unanswered", GOOD.with_step("another id", error=None)),
        Refusal("newer-transaction-aborted", GOOD.with_step("kept", state="CompleteAbort", partitions=[])),
        Refusal("newer-producer-fenced", GOOD.with_step("newer's commit", error=KafkaError.PRODUCER_FENCED)),
        *unsound(GOOD, shown="newer-records-not-shown"),
    ),
    refuted_by=(
        Release(version="4.3.1", anomaly="newer-transaction-aborted"),
        Release(version="4.3.1", anomaly="newer-producer-fenced"),
        Release(version="4.3.1", anomaly="newer-records-not-shown"),
        Release(version="4.3.1", anomaly="wrong-error"),
    ),
)
