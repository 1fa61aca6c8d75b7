"""KIP360-INIT-13: a producer id without an epoch, or an epoch without a producer id, is an invalid request.

Tried with a transactional id and without one, on every version that carries an identity; nothing may come of it. The
KIP names the code, INVALID_REQUEST.
"""

from dataclasses import replace

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.coordinator_rules import HALF_AN_IDENTITY_IS_NONE
from harness.contract.doctored import described, evidence, step
from harness.contract.refuters import Failpoint
from harness.lab import Lab
from harness.wire.requests.transactions.init_producer_id import InitProducerId


def stimulus(lab: Lab) -> None:
    """Both halves, for a known id and for an idempotent producer; then the whole identity."""
    for version in lab.offered("InitProducerId", (3, 4, 5)):
        txn = lab.producer()
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="before")
        for half in ((txn.producer_id, -1), (-1, txn.epoch)):
            txn.init(version=version, identity=half, adopt=False, as_="half")
            idempotent = replace(InitProducerId(transactional_id=None), producer_id=half[0], producer_epoch=half[1])
            txn.step_recorder.ask(txn.coordinator, idempotent, version, as_="half, idempotent")
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="after")
        txn.init(version=version, identity=(txn.producer_id, txn.epoch), as_="whole")


def check(seen: Evidence) -> Observations:
    """Each half is invalid and changes nothing; the whole is accepted, and bumps the epoch by one."""
    for half in (*seen.all("half"), *seen.all("half, idempotent")):
        yield expect.refused(half, KafkaError.INVALID_REQUEST, otherwise="half-an-identity-accepted")
    for before, after in zip(seen.all("before"), seen.all("after"), strict=True):
        yield expect.unchanged(before, after, "producer_id", "producer_epoch", "state", otherwise="identity-changed")
    for whole in seen.all("whole"):
        yield expect.accepted(whole, otherwise="whole-identity-refused")
        epoch = whole.request_int("producer_epoch")
        yield expect.shows(whole, producer_epoch=epoch + 1, otherwise="bumped-in-between")


GOOD = evidence(
    described("before", "Empty"),
    step("half", "InitProducerId", 4, error=KafkaError.INVALID_REQUEST),
    step("half, idempotent", "InitProducerId", 4, error=KafkaError.INVALID_REQUEST),
    described("after", "Empty"),
    step("whole", "InitProducerId", 4, request={"producer_epoch": 0}, producer_epoch=1),
)

REQUIREMENT = Requirement(
    id="KIP360-INIT-13",
    source=Source(360, "Public Interfaces: if either producerId or epoch is -1 and the other is not"),
    statement="Giving only one of producer id and epoch is an invalid request.",
    needs=(Offers("InitProducerId", 3),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("half-an-identity-accepted", GOOD.with_step("half", error=0)),
        Refusal("half-an-identity-accepted", GOOD.with_step("half, idempotent", error=0)),
        Refusal("wrong-error", GOOD.with_step("half", error=KafkaError.PRODUCER_FENCED)),
        Refusal("unanswered", GOOD.with_step("half", error=None)),
        Refusal("identity-changed", GOOD.with_step("after", producer_epoch=1)),
        Refusal("whole-identity-refused", GOOD.with_step("whole", error=KafkaError.INVALID_REQUEST)),
        Refusal("bumped-in-between", GOOD.with_step("whole", producer_epoch=2)),
    ),
    refuted_by=(
        Failpoint(rules=HALF_AN_IDENTITY_IS_NONE, anomaly="half-an-identity-accepted"),
        Failpoint(rules=HALF_AN_IDENTITY_IS_NONE, anomaly="whole-identity-refused"),
        Failpoint(rules=HALF_AN_IDENTITY_IS_NONE, anomaly="bumped-in-between"),
    ),
)
