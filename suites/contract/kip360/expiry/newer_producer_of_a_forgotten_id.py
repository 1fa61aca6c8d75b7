"""KIP360-INIT-15: where another producer took a forgotten id over, the identity from before is fenced.

"Otherwise if a different producerId has been assigned, then we can return INVALID_PRODUCER_EPOCH since that is
effectively what has happened." The newer producer must not notice: its transaction is open when the old identity is
shown, and commits afterwards. From version 4 on Kafka's code is PRODUCER_FENCED (KIP-588), so both are right there.
"""

from harness.base.wait import until
from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.coordinator_rules import INIT_IGNORES_THE_IDENTITY
from harness.contract.doctored import commit, data, described, ended, evidence, log, step, unsound, written
from harness.contract.refuters import Failpoint
from harness.contract.version_tables import fenced
from harness.lab import Lab, Producer
from suites.contract.wishes import SOON_EXPIRED

FORGOTTEN_SECONDS = 15.0
STALE = KafkaError.INVALID_PRODUCER_EPOCH


def stimulus(lab: Lab) -> None:
    """On each version: silence until the id is forgotten; a rival starts and writes; the old identity is shown."""
    partition = lab.partition("P1")
    for version in lab.offered("InitProducerId", (3, 4, 5)):
        txn = lab.producer()
        forgotten(lab, txn)
        rival = lab.same_id(txn.transactional_id, txn.coordinator, "rival", init=False)
        rival.init(as_="rival's start")
        rival.add(partition)
        rival.produce(partition, as_="write")
        txn.init(version=version, identity=(txn.producer_id, txn.epoch), adopt=False, retry=(), as_="old identity")
        lab.observer.transaction(rival.transactional_id, rival.coordinator, as_="kept")
        txn.init(version=version, identity=(txn.producer_id, txn.epoch), adopt=False, as_="old identity")
        rival.end(commit=True, as_="rival's end")
        lab.settled()


def forgotten(lab: Lab, txn: Producer) -> None:
    """Wait until the coordinator says that it does not know the id."""
    until(
        lambda: not lab.observer.state(txn.transactional_id, txn.coordinator),
        what=f"the end of {txn.transactional_id}",
        timeout_seconds=FORGOTTEN_SECONDS,
        interval_seconds=0.05,
    )


def check(seen: Evidence) -> Observations:
    """The old one is fenced, however often it is shown; the newer one's transaction is whole."""
    for start in seen.all("rival's start"):
        yield expect.shows(start, producer_epoch=0, otherwise="not-forgotten")
    for late in seen.all("old identity"):
        codes = sorted({STALE, fenced("InitProducerId", late.version)})
        yield expect.refused(late, *codes, otherwise="zombie-not-fenced")
    for kept in seen.all("kept"):
        yield expect.keeps(kept, state="Ongoing", epoch=0, otherwise="rival-disturbed")
    for end in seen.all("rival's end"):
        yield expect.accepted(end, otherwise="rival-fenced")
    yield from expect.sound(seen, "P1", [value for step_ in seen.all("write") for value in step_.written()])


_FENCED = step("old identity", "InitProducerId", 4, error=KafkaError.PRODUCER_FENCED)
GOOD = evidence(
    step("rival's start", "InitProducerId", 4, producer_id=8, producer_epoch=0),
    _FENCED,
    written("write", 11, "a", producer_id=8),
    _FENCED,
    described("kept", "Ongoing", producer_id=8, partitions=("P1",)),
    ended("rival's end", version=4, producer_id=8),
    logs={"P1": log(data(8, 0, "a"), commit(8, 0))},
)

REQUIREMENT = Requirement(
    id="KIP360-INIT-15",
    source=Source(360, "Proposed Changes: InvalidProducerIdMapping, 3: a different producerId has been assigned"),
    statement="Where another producer took a forgotten id over, the identity from before is fenced.",
    needs=(Offers("InitProducerId", 3),),
    cluster=SOON_EXPIRED,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, GOOD.with_step("old identity", error=STALE)),
    refuses=(
        Refusal("not-forgotten", GOOD.with_step("rival's start", producer_epoch=1)),
        Refusal("zombie-not-fenced", GOOD.with_step("old identity", error=0)),
        Refusal("wrong-error", GOOD.with_step("old identity", error=KafkaError.CONCURRENT_TRANSACTIONS)),
        Refusal("unanswered", GOOD.with_step("old identity", error=None)),
        Refusal("rival-disturbed", GOOD.with_step("kept", state="PrepareAbort")),
        Refusal("rival-fenced", GOOD.with_step("rival's end", error=KafkaError.PRODUCER_FENCED)),
        *unsound(GOOD),
    ),
    refuted_by=(
        Failpoint(rules=INIT_IGNORES_THE_IDENTITY, anomaly="zombie-not-fenced"),
        Failpoint(rules=INIT_IGNORES_THE_IDENTITY, anomaly="rival-disturbed"),
        Failpoint(rules=INIT_IGNORES_THE_IDENTITY, anomaly="rival-fenced"),
    ),
)
