"""KIP360-INIT-07: a producer whose answer was lost repeats its bump, and must not be taken for a zombie nor bump again.

Asked of one coordinator instance; after a fail-over the memory of the last epoch is gone (INIT-09, -10).
"""

from collections.abc import Iterator

from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Refusal,
    Requirement,
    Source,
    accepted,
    agree,
    refused,
)
from harness.contract.byteman.transaction_metadata_rules import (
    INIT_FORGETS_THE_LAST_EPOCH,
    INIT_REPETITION_TAKEN_FOR_THE_FIRST,
)
from harness.contract.doctored import evidence, step
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab

PRODUCER_FENCED = 90
REPEATS = 3


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


def check(seen: Evidence) -> Iterator[Observation]:
    """Every answer is the first one's, the coordinator keeps it, and a rival ends the grace."""
    bumps, repeats = seen.all("bump"), iter(seen.all("repeated"))
    for bump, kept in zip(bumps, seen.all("kept"), strict=True):
        yield accepted(bump, otherwise="own-identity-refused")
        promised = (bump.request["producer_id"], int(str(bump.request["producer_epoch"])) + 1)
        for _ in range(REPEATS):
            again = next(repeats)
            yield accepted(again, otherwise="repetition-fenced")
            answer = (again.fields.get("producer_id"), again.fields.get("producer_epoch"))
            yield agree("the repeated identity", answer, promised, bump, again, otherwise="bumped-again")
        stored = (kept.fields.get("producer_id"), kept.fields.get("producer_epoch"))
        yield agree("the stored identity", stored, promised, kept, otherwise="wrong-stored-identity")
    for late in seen.all("after a rival"):
        fenced = PRODUCER_FENCED if late.version >= 4 else 47
        yield refused(late, fenced, otherwise="zombie-not-fenced")


BEFORE = {"producer_id": 7, "producer_epoch": 0}
GOOD = evidence(
    step("bump", "InitProducerId", 4, request=BEFORE, producer_id=7, producer_epoch=1),
    *(step("repeated", "InitProducerId", 4, request=BEFORE, producer_id=7, producer_epoch=1) for _ in range(REPEATS)),
    step("kept", "DescribeTransactions", 0, producer_id=7, producer_epoch=1),
    step("after a rival", "InitProducerId", 4, request=BEFORE, error=90),
)

REQUIREMENT = Requirement(
    id="KIP360-INIT-07",
    level=Level.MUST,
    source=Source(360, "Proposed Changes, 2b: the provided epoch is the last one"),
    statement="Repeating the request that already bumped returns the same producer id and epoch, and bumps no more.",
    needs=(Offers("InitProducerId", 3), Offers("DescribeTransactions", 0)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("own-identity-refused", GOOD.with_step("bump", error=90)),
        Refusal("repetition-fenced", GOOD.with_step("repeated", error=90)),
        Refusal("bumped-again", GOOD.with_step("repeated", producer_epoch=2)),
        Refusal("wrong-stored-identity", GOOD.with_step("kept", producer_epoch=4)),
        Refusal("zombie-not-fenced", GOOD.with_step("after a rival", error=0)),
        Refusal("wrong-error", GOOD.with_step("after a rival", error=48)),
    ),
    refuted_by=(
        Failpoint(rules=INIT_FORGETS_THE_LAST_EPOCH, anomaly="repetition-fenced"),
        Failpoint(rules=INIT_REPETITION_TAKEN_FOR_THE_FIRST, anomaly="bumped-again"),
    ),
)
