"""KIP360-INIT-16: InitProducerId with wrong arguments is refused, with the error that tells what is wrong.

An empty transactional id, a timeout of nothing, less, or more than brokers allow (``transaction.max.timeout.ms``, a
quarter of an hour), a broker that does not coordinate the id, and an id whose transaction is just being ended. After
each the right arguments must be accepted, with an epoch that was not bumped by a refusal. What users without permission
are told is in requirements of their own. KIP-98 names the errors; for a timeout of 0 and less Kafka chose one.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.coordinator_rules import NO_TIMEOUT_IS_TOO_LONG
from harness.contract.doctored import evidence, step
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab
from harness.wire.requests.transactions.init_producer_id import InitProducerId

TOO_LONG_MS = 2**31 - 2
"""Longer than any broker allows; the very highest means a prepared transaction without timeout (KIP-939)."""


def stimulus(lab: Lab) -> None:
    """Each wrong argument on each version, for an id that is known; then the right ones."""
    for version in lab.offered("InitProducerId", (0, 2, 3, 4, 5)):
        txn, recorder = lab.producer(), lab.step_recorder("victim")
        txn.init(version=version, as_="before")
        for timeout_ms in (0, -1, TOO_LONG_MS):
            txn.init(version=version, timeout_ms=timeout_ms, adopt=False, as_=f"timeout of {timeout_ms}")
        nameless = InitProducerId(transactional_id="")
        recorder.ask(txn.coordinator, nameless, version, as_="empty id")
        for other in lab.cluster.topology.brokers:
            if other != txn.coordinator:
                known = InitProducerId(transactional_id=txn.transactional_id)
                recorder.ask(other, known, version, retry=(), as_="another broker")
        txn.init(version=version, as_="after")


def check(seen: Evidence) -> Observations:
    """Each refused with its error, and without any effect."""
    for timeout_ms in (0, -1, TOO_LONG_MS):
        for wrong in seen.all(f"timeout of {timeout_ms}"):
            refused = expect.refused(wrong, KafkaError.INVALID_TRANSACTION_TIMEOUT, otherwise="wrong-timeout-accepted")
            yield refused if timeout_ms > 0 else expect.habit(refused)
    for wrong in seen.all("empty id"):
        yield expect.refused(wrong, KafkaError.INVALID_REQUEST, otherwise="empty-id-accepted")
    for wrong in expect.taken(seen, "another broker"):
        yield expect.refused(wrong, KafkaError.NOT_COORDINATOR, otherwise="answered-by-no-coordinator")
    for before, after in zip(seen.all("before"), seen.all("after"), strict=True):
        yield expect.accepted(after, otherwise="right-arguments-refused")
        own, epoch = before.answer_int("producer_id"), before.answer_int("producer_epoch")
        yield expect.identity(after, own, epoch + 1, otherwise="bumped-by-a-refusal")


_WRONG = KafkaError.INVALID_TRANSACTION_TIMEOUT
GOOD = evidence(
    step("before", "InitProducerId", 4, producer_id=7, producer_epoch=1),
    *(step(f"timeout of {each}", "InitProducerId", 4, error=_WRONG) for each in (0, -1, TOO_LONG_MS)),
    step("empty id", "InitProducerId", 4, error=KafkaError.INVALID_REQUEST),
    step("another broker", "InitProducerId", 4, error=KafkaError.NOT_COORDINATOR, node=2),
    step("after", "InitProducerId", 4, producer_id=7, producer_epoch=2),
)

REQUIREMENT = Requirement(
    id="KIP360-INIT-16",
    source=Source(360, "Public Interfaces: InitProducerIdRequest"),
    statement="InitProducerId with wrong arguments is refused and changes nothing.",
    needs=(Offers("InitProducerId", 2),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(
            Refusal("wrong-timeout-accepted", GOOD.with_step(f"timeout of {each}", error=0))
            for each in (0, -1, TOO_LONG_MS)
        ),
        Refusal("wrong-error", GOOD.with_step(f"timeout of {TOO_LONG_MS}", error=KafkaError.INVALID_REQUEST)),
        Refusal("unanswered", GOOD.with_step("empty id", error=None)),
        Refusal("empty-id-accepted", GOOD.with_step("empty id", error=0)),
        Refusal("answered-by-no-coordinator", GOOD.with_step("another broker", error=0)),
        Refusal("right-arguments-refused", GOOD.with_step("after", error=KafkaError.INVALID_TRANSACTION_TIMEOUT)),
        Refusal("bumped-by-a-refusal", GOOD.with_step("after", producer_epoch=3)),
    ),
    refuted_by=(
        Failpoint(rules=NO_TIMEOUT_IS_TOO_LONG, anomaly="wrong-timeout-accepted"),
        Failpoint(rules=NO_TIMEOUT_IS_TOO_LONG, anomaly="bumped-by-a-refusal"),
        Liar(api="InitProducerId", instead_of=KafkaError.INVALID_REQUEST, error=0, anomaly="empty-id-accepted"),
        Liar(
            api="InitProducerId", instead_of=KafkaError.NOT_COORDINATOR, error=0, anomaly="answered-by-no-coordinator"
        ),
        Liar(
            api="InitProducerId",
            error=KafkaError.INVALID_REQUEST,
            versions=(0, 0),
            skip=7,
            at_most=1,
            anomaly="right-arguments-refused",
        ),
    ),
)
