"""KIP360-INIT-10: the request that changed the producer id may be repeated at the broker that has taken over.

The KIP has the last producer id and epoch written to the coordinator's log for this case: "in the worst case, a retry
may span coordinator failover". Kafka keeps the last epoch in memory only: up to 4.2 it recorded nothing of the last
identity, from 4.3 on the old id without its epoch (KAFKA-20310), so that the next coordinator fences the client, who
has done nothing wrong. KAFKA-20357 would record the epoch.
"""

from harness.base.json_value import Json
from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.transaction_metadata_rules import INIT_REPETITION_TAKEN_FOR_THE_FIRST
from harness.contract.doctored import described, evidence, step
from harness.contract.refuters import Failpoint, Release
from harness.evidence.requirement_evidence import Fault
from harness.lab import Lab
from harness.lab.powers.last_epochs import LAST_EPOCH


def stimulus(lab: Lab) -> None:
    """On each version: the rotation; then another broker coordinates the id and is asked again."""
    offered = lab.offered("InitProducerId", (3, 4, 5))
    for txn, version in zip(lab.near_the_end(count=len(offered)), offered, strict=True):
        before = (txn.producer_id, LAST_EPOCH)
        txn.init(version=version, identity=before, as_="rotation")
        with lab.moves.coordinator(txn):
            txn.init(version=version, identity=before, as_="repeated")
            lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")


def check(seen: Evidence) -> Observations:
    """The answer is the first one's, and the new coordinator keeps it."""
    for rotation, again, kept in zip(seen.all("rotation"), seen.all("repeated"), seen.all("kept"), strict=True):
        seen.fault("moved coordinator")
        yield expect.accepted(rotation, otherwise="own-identity-refused")
        following = rotation.answer_int("producer_id")
        yield expect.accepted(again, otherwise="repetition-fenced")
        if again.error == 0:
            yield expect.identity(again, following, 0, otherwise="another-identity")
        yield expect.keeps(kept, producer_id=following, epoch=0, otherwise="wrong-stored-identity")


_SHOWN: dict[str, Json] = {"producer_id": 7, "producer_epoch": LAST_EPOCH}
GOOD = evidence(
    step("rotation", "InitProducerId", 4, request=_SHOWN, producer_id=8, producer_epoch=0),
    step("repeated", "InitProducerId", 4, request=_SHOWN, producer_id=8, producer_epoch=0, node=2),
    described("kept", "Empty", producer_id=8),
    faults=(Fault(name="moved coordinator", kind="move", where="broker 1 → broker 2", started=0.0, ended=100.0),),
)

REQUIREMENT = Requirement(
    id="KIP360-INIT-10",
    source=Source(360, "Proposed Changes, 2b: a retry may span coordinator failover, overflow"),
    statement="The request that changed the producer id may be repeated at the next coordinator.",
    needs=(Offers("InitProducerId", 3),),
    access=(Access.LOAD, Access.BROKERS, Access.CHANGES),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("own-identity-refused", GOOD.with_step("rotation", error=KafkaError.UNKNOWN_SERVER_ERROR)),
        Refusal("repetition-fenced", GOOD.with_step("repeated", error=KafkaError.PRODUCER_FENCED)),
        Refusal("another-identity", GOOD.with_step("repeated", producer_epoch=1)),
        Refusal("another-identity", GOOD.with_step("repeated", producer_id=9)),
        Refusal("wrong-stored-identity", GOOD.with_step("kept", producer_epoch=1)),
    ),
    refuted_by=(
        Release(version="4.3.1", anomaly="repetition-fenced"),
        Failpoint(rules=INIT_REPETITION_TAKEN_FOR_THE_FIRST, anomaly="another-identity"),
    ),
)
