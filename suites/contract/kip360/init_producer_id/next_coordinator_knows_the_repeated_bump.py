"""KIP360-INIT-09: a bump whose answer was lost is recognised by the id's next coordinator too.

The KIP's: the coordinator keeps the last producer id and epoch in the transaction log, because a retry may span a
fail-over. Kafka has these fields of the log nowhere: the last epoch is in memory alone, so that a coordinator that has
just read its log takes the repetition for a zombie's (KAFKA-20357).
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    NotSeen,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.transaction_metadata_rules import INIT_REPETITION_TAKEN_FOR_THE_FIRST
from harness.contract.doctored import described, evidence, step
from harness.contract.refuters import Failpoint, Release
from harness.evidence.requirement_evidence import Fault
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """Bumped at one coordinator, the same asked again at the next."""
    for version in lab.offered("InitProducerId", (3, 4, 5)):
        txn = lab.producer()
        before = (txn.producer_id, txn.epoch)
        txn.init(version=version, identity=before, as_="bump")
        with lab.moves.coordinator(txn, name="move"):
            txn.init(version=version, identity=before, adopt=False, as_="repeated")
            lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")


def check(seen: Evidence) -> Observations:
    """The answer is the first one's, and the coordinator keeps it."""
    seen.fault("move")
    for bump, again, kept in zip(seen.all("bump"), seen.all("repeated"), seen.all("kept"), strict=True):
        own, epoch = bump.request_int("producer_id"), bump.request_int("producer_epoch") + 1
        if bump.node == again.node:
            raise NotSeen("the repetition went to the same coordinator")
        yield expect.accepted(bump, otherwise="own-identity-refused")
        yield expect.accepted(again, otherwise="repetition-fenced")
        if again.error == 0:
            yield expect.identity(again, own, epoch, otherwise="bumped-again")
        yield expect.keeps(kept, producer_id=own, epoch=epoch, otherwise="wrong-stored-identity")


_SHOWN = {"producer_id": 7, "producer_epoch": 0}
GOOD = evidence(
    step("bump", "InitProducerId", 4, request=_SHOWN, producer_id=7, producer_epoch=1),
    step("repeated", "InitProducerId", 4, node=2, request=_SHOWN, producer_id=7, producer_epoch=1),
    described("kept", "Empty", epoch=1),
    faults=(Fault(name="move", kind="move", where="broker 1 → broker 2", started=0, ended=1),),
)

REQUIREMENT = Requirement(
    id="KIP360-INIT-09",
    source=Source(360, "Proposed Changes, 2b: the provided epoch is the last one"),
    statement="A repeated bump returns the same producer id and epoch at the id's next coordinator as well.",
    needs=(Offers("InitProducerId", 3),),
    order=Order.CHANGES_SETTINGS,
    access=(Access.BROKERS, Access.CHANGES),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("own-identity-refused", GOOD.with_step("bump", error=KafkaError.PRODUCER_FENCED)),
        Refusal("repetition-fenced", GOOD.with_step("repeated", error=KafkaError.PRODUCER_FENCED)),
        Refusal("bumped-again", GOOD.with_step("repeated", producer_epoch=2)),
        Refusal("wrong-stored-identity", GOOD.with_step("kept", producer_epoch=4)),
    ),
    refuted_by=(
        Release(version="3.9.2", anomaly="repetition-fenced"),
        Failpoint(rules=INIT_REPETITION_TAKEN_FOR_THE_FIRST, anomaly="bumped-again"),
    ),
)
