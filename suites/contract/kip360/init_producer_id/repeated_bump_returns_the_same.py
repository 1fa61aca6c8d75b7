"""KIP360-INIT-07: a producer whose answer was lost repeats its bump, and must not be taken for a zombie nor bump again.

Asked of one coordinator instance; after a fail-over the memory of the last epoch is gone (INIT-09, -10). All of it is
the KIP's promise. Its code for who is fenced is INVALID_PRODUCER_EPOCH; from version 4 on Kafka answers PRODUCER_FENCED
(KIP-588), so both are right there.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman import transaction_metadata_rules as rules
from harness.contract.doctored import described, evidence, step
from harness.contract.refuters import Failpoint
from harness.contract.version_tables import fenced
from harness.lab import Lab

REPEATS = 3
STALE = KafkaError.INVALID_PRODUCER_EPOCH


def stimulus(lab: Lab) -> None:
    """The bump and its repetitions; then another producer takes the id over, and one more repetition comes."""
    for version in lab.offered("InitProducerId", (3, 4, 5)):
        txn = lab.producer()
        before = (txn.producer_id, txn.epoch)
        txn.init(version=version, identity=before, as_="bump")
        for _ in range(REPEATS):
            txn.init(version=version, identity=before, as_="repeated")
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
        lab.same_id(txn.transactional_id, txn.coordinator, "rival")
        txn.init(version=version, identity=before, adopt=False, as_="after a rival")


def check(seen: Evidence) -> Observations:
    """Every answer is the first one's, the coordinator keeps it; after a rival's takeover it is fenced."""
    repetitions = iter(seen.all("repeated"))
    for bump, kept in zip(seen.all("bump"), seen.all("kept"), strict=True):
        own, epoch = bump.request_int("producer_id"), bump.request_int("producer_epoch") + 1
        yield expect.accepted(bump, otherwise="own-identity-refused")
        for again in (next(repetitions) for _ in range(REPEATS)):
            yield expect.accepted(again, otherwise="repetition-fenced")
            yield expect.identity(again, own, epoch, otherwise="bumped-again")
        yield expect.keeps(kept, producer_id=own, epoch=epoch, otherwise="wrong-stored-identity")
    for late in seen.all("after a rival"):
        codes = sorted({STALE, fenced("InitProducerId", late.version)})
        yield expect.refused(late, *codes, code=Level.SHOULD, otherwise="zombie-not-fenced")


_SHOWN = {"producer_id": 7, "producer_epoch": 0}
GOOD = evidence(
    step("bump", "InitProducerId", 4, request=_SHOWN, producer_id=7, producer_epoch=1),
    *REPEATS * (step("repeated", "InitProducerId", 4, request=_SHOWN, producer_id=7, producer_epoch=1),),
    described("kept", "Empty", epoch=1),
    step("after a rival", "InitProducerId", 4, request=_SHOWN, error=KafkaError.PRODUCER_FENCED),
)

REQUIREMENT = Requirement(
    id="KIP360-INIT-07",
    source=Source(360, "Proposed Changes, 2b: the provided epoch is the last one"),
    statement="Repeating the request that already bumped returns the same producer id and epoch, and bumps no more.",
    needs=(Offers("InitProducerId", 3),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, GOOD.with_step("after a rival", error=STALE)),
    refuses=(
        Refusal("own-identity-refused", GOOD.with_step("bump", error=KafkaError.PRODUCER_FENCED)),
        Refusal("repetition-fenced", GOOD.with_step("repeated", error=KafkaError.PRODUCER_FENCED)),
        Refusal("bumped-again", GOOD.with_step("repeated", producer_epoch=2)),
        Refusal("wrong-stored-identity", GOOD.with_step("kept", producer_epoch=4)),
        Refusal("zombie-not-fenced", GOOD.with_step("after a rival", error=0)),
        Refusal("wrong-error", GOOD.with_step("after a rival", error=KafkaError.INVALID_TXN_STATE)),
    ),
    refuted_by=(
        Failpoint(rules=rules.INIT_FORGETS_THE_LAST_EPOCH, anomaly="repetition-fenced"),
        Failpoint(rules=rules.INIT_REPETITION_TAKEN_FOR_THE_FIRST, anomaly="bumped-again"),
    ),
)
