"""KIP360-INIT-17: without a transactional id every request gives a new producer id, whatever identity it shows.

An idempotent producer bumps its epoch by itself; the broker keeps nothing of it, so there is nothing to compare. Any
broker answers, on every version, and timeouts mean nothing to it. The KIP says that the id is unique; that the identity
is not looked at is Kafka's habit (``TransactionCoordinator.handleInitProducerId`` accepts blindly).
"""

from dataclasses import replace

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.coordinator_rules import IDEMPOTENT_PRODUCERS_SHARE_AN_ID
from harness.contract.doctored import evidence, step
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab
from harness.wire.requests.transactions.init_producer_id import InitProducerId

TIMEOUTS_MS = (60_000, 0, -1)


def stimulus(lab: Lab) -> None:
    """Every broker on every version, without an identity, and with the one given before."""
    recorder, brokers = lab.step_recorder("victim"), lab.cluster.topology.brokers
    for version in lab.offered("InitProducerId", (0, 2, 3, 4, 5)):
        for broker, timeout_ms in zip(brokers, TIMEOUTS_MS, strict=False):
            plain = InitProducerId(transactional_id=None, timeout_ms=timeout_ms)
            first = recorder.ask(broker, plain, version, as_="no identity")
            if version >= 3:
                shown = replace(plain, producer_id=first.answer_int("producer_id"), producer_epoch=0)
                recorder.ask(broker, shown, version, as_="identity shown")


def check(seen: Evidence) -> Observations:
    """Each time another id, in epoch 0."""
    answers = (*seen.all("no identity"), *seen.all("identity shown"))
    for answer in seen.all("no identity"):
        yield expect.accepted(answer, otherwise="refused")
    for answer in seen.all("identity shown"):
        yield expect.habit(expect.accepted(answer, otherwise="refused"))
    ids = [answer.fields.get("producer_id") for answer in answers if answer.error == 0]
    yield expect.agree("ids given twice", len(ids) - len(set(ids)), 0, *answers, otherwise="id-given-twice")
    epochs = {answer.fields.get("producer_epoch") for answer in answers if answer.error == 0}
    yield expect.agree("first epochs", epochs, {0}, *answers, otherwise="wrong-first-epoch")


GOOD = evidence(
    step("no identity", "InitProducerId", 4, producer_id=7, producer_epoch=0),
    step("identity shown", "InitProducerId", 4, producer_id=8, producer_epoch=0),
)

REQUIREMENT = Requirement(
    id="KIP360-INIT-17",
    source=Source(360, "Safe Epoch Incrementing: for the idempotent producer"),
    statement="Without a transactional id every request gives a fresh producer id in epoch 0.",
    needs=(Offers("InitProducerId", 3),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("refused", GOOD.with_step("no identity", error=KafkaError.INVALID_REQUEST)),
        Refusal("refused", GOOD.with_step("identity shown", error=KafkaError.PRODUCER_FENCED)),
        Refusal("id-given-twice", GOOD.with_step("identity shown", producer_id=7)),
        Refusal("wrong-first-epoch", GOOD.with_step("no identity", producer_epoch=1)),
    ),
    refuted_by=(
        Failpoint(rules=IDEMPOTENT_PRODUCERS_SHARE_AN_ID, anomaly="id-given-twice"),
        Liar(api="InitProducerId", error=KafkaError.INVALID_REQUEST, versions=(0, 0), anomaly="refused"),
    ),
)
