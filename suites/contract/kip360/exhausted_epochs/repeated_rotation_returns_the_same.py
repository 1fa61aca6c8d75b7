"""KIP360-INIT-08: a client that lost the answer with its new producer id asks again and is given the same one.

It knows its old id alone, in the last epoch, and must be told from a zombie by that: the coordinator remembers the last
identity. An old id in an epoch before the last was never that, and is fenced; so is the repetition once a rival has
taken over. Kafka answers one repetition and then knows the old id no more: it writes the new id down as the one of
before (``TransactionMetadata.prepareTransitionTo``). The code of the fencing is the KIP's up to version 3 and KIP-588's
from version 4 on.
"""

from dataclasses import replace

from harness.base.json_value import Json
from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman import transaction_metadata_rules as rules
from harness.contract.doctored import described, evidence, step
from harness.contract.refuters import Failpoint, Release
from harness.contract.version_tables import fenced
from harness.lab import Lab
from harness.lab.powers.last_epochs import LAST_EPOCH

REPEATS, VERSIONS = 3, (3, 4, 5)
STALE = KafkaError.INVALID_PRODUCER_EPOCH


def stimulus(lab: Lab) -> None:
    """The rotation and its repetitions, an older identity in between; a rival at the end."""
    offered = lab.offered("InitProducerId", VERSIONS)
    for txn, version in zip(lab.near_the_end(count=len(offered)), offered, strict=True):
        before, older = (txn.producer_id, LAST_EPOCH), (txn.producer_id, LAST_EPOCH - 1)
        txn.init(version=version, identity=before, as_="rotation")
        txn.init(version=version, identity=older, adopt=False, as_="older identity")
        for _ in range(REPEATS):
            txn.init(version=version, identity=before, as_="repeated")
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
        lab.same_id(txn.transactional_id, txn.coordinator, "rival")
        txn.init(version=version, identity=before, adopt=False, as_="after a rival")


def check(seen: Evidence) -> Observations:
    """The same each time, and kept; older identities are fenced, and all of them after a rival's takeover."""
    repetitions = iter(seen.all("repeated"))
    for rotation, kept in zip(seen.all("rotation"), seen.all("kept"), strict=True):
        yield expect.accepted(rotation, otherwise="own-identity-refused")
        following = rotation.answer_int("producer_id")
        for number in range(REPEATS):
            again, name = next(repetitions), "later-repetition-fenced" if number else "repetition-fenced"
            yield expect.accepted(again, otherwise=name)
            if again.error == 0:
                yield expect.identity(again, following, 0, otherwise="another-identity")
        yield expect.keeps(kept, producer_id=following, epoch=0, otherwise="wrong-stored-identity")
    for late in (*seen.all("older identity"), *seen.all("after a rival")):
        codes = sorted({STALE, fenced("InitProducerId", late.version)})
        yield expect.refused(late, *codes, code=Level.SHOULD, otherwise="zombie-not-fenced")


def good(*errors: int) -> Evidence:
    """Evidence by hand, with these errors of the repetitions."""
    shown: dict[str, Json] = {"producer_id": 7, "producer_epoch": LAST_EPOCH}
    asked = step("repeated", "InitProducerId", 4, request=shown, producer_id=8, producer_epoch=0)
    stale = replace(asked, error=KafkaError.PRODUCER_FENCED)
    return evidence(
        replace(asked, name="rotation"),
        replace(stale, name="older identity"),
        *(replace(asked, error=error) for error in errors),
        described("kept", "Empty", producer_id=8),
        replace(stale, name="after a rival"),
    )


GOOD, ZOMBIE = good(0, 0, 0), KafkaError.PRODUCER_FENCED

REQUIREMENT = Requirement(
    id="KIP360-INIT-08",
    source=Source(360, "Proposed Changes, 2b: the provided epoch is the last one, overflow"),
    statement="Repeating the request that changed the producer id returns the same new id.",
    needs=(Offers("InitProducerId", 3),),
    access=(Access.LOAD,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, GOOD.with_step("after a rival", error=STALE)),
    refuses=(
        Refusal("own-identity-refused", GOOD.with_step("rotation", error=KafkaError.UNKNOWN_SERVER_ERROR)),
        Refusal("repetition-fenced", good(ZOMBIE, 0, 0)),
        Refusal("later-repetition-fenced", good(0, 0, ZOMBIE)),
        Refusal("another-identity", GOOD.with_step("repeated", producer_epoch=1)),
        Refusal("another-identity", GOOD.with_step("repeated", producer_id=9)),
        Refusal("wrong-stored-identity", GOOD.with_step("kept", producer_epoch=1)),
        Refusal("zombie-not-fenced", GOOD.with_step("after a rival", error=0)),
        Refusal("zombie-not-fenced", GOOD.with_step("older identity", error=0)),
        Refusal("wrong-error", GOOD.with_step("after a rival", error=KafkaError.INVALID_TXN_STATE)),
    ),
    refuted_by=(
        Release(version="4.3.1", anomaly="later-repetition-fenced"),
        Failpoint(rules=rules.INIT_FORGETS_THE_LAST_EPOCH, anomaly="repetition-fenced"),
        Failpoint(rules=rules.INIT_REPETITION_TAKEN_FOR_THE_FIRST, anomaly="another-identity"),
    ),
)
