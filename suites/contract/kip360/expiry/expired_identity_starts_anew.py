"""KIP360-INIT-14: a producer whose id was forgotten shows its old identity and is let in as a new one.

After INVALID_PRODUCER_ID_MAPPING a client cannot know whether somebody else has taken its place. "If no mapping exists,
the coordinator can generate a new producerId and return it": nobody has, so it may go on, in epoch 0 and able to write.
"""

from harness.base.wait import until
from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.coordinator_rules import FORGOTTEN_IDENTITY_FENCED, OLD_ID_GIVEN_AGAIN
from harness.contract.doctored import commit, data, ended, evidence, log, step, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab, Producer
from suites.contract.wishes import SOON_EXPIRED

FORGOTTEN_SECONDS = 15.0


def stimulus(lab: Lab) -> None:
    """On each version: a commit, silence until the id is forgotten, the old identity shown, another commit."""
    partition = lab.partition("P1")
    for version in lab.offered("InitProducerId", (3, 4, 5)):
        txn = lab.producer()
        txn.add(partition)
        txn.produce(partition, as_="write")
        txn.end(commit=True, as_="end")
        forgotten(lab, txn)
        txn.end(commit=True, as_="end of a forgotten id")
        txn.init(version=version, identity=(txn.producer_id, txn.epoch), as_="old identity")
        txn.add(partition)
        txn.produce(partition, as_="write")
        txn.end(commit=True, as_="end")


def forgotten(lab: Lab, txn: Producer) -> None:
    """Wait until the coordinator says that it does not know the id."""
    until(
        lambda: not lab.observer.state(txn.transactional_id, txn.coordinator),
        what=f"the end of {txn.transactional_id}",
        timeout_seconds=FORGOTTEN_SECONDS,
        interval_seconds=0.05,
    )


def check(seen: Evidence) -> Observations:
    """The forgotten id is unknown; its old identity is answered with another id in epoch 0, which commits."""
    for end in seen.all("end of a forgotten id"):
        yield expect.refused(end, KafkaError.INVALID_PRODUCER_ID_MAPPING, otherwise="not-forgotten")
    for shown in seen.all("old identity"):
        yield expect.accepted(shown, otherwise="new-start-refused")
        old, following = shown.request_int("producer_id"), shown.fields.get("producer_id")
        another = following not in (old, -1) or shown.error != 0
        yield expect.unless(another, f"{following} is another id than {old}", shown, otherwise="old-id-given")
        if shown.error == 0:
            yield expect.shows(shown, producer_epoch=0, otherwise="wrong-first-epoch")
    for end in seen.all("end"):
        yield expect.accepted(end, otherwise="end-refused")
    yield from expect.sound(seen, "P1", [value for step_ in seen.all("write") for value in step_.written()])


GOOD = evidence(
    written("write", 11, "a"),
    ended("end", version=4),
    ended("end of a forgotten id", version=4, error=KafkaError.INVALID_PRODUCER_ID_MAPPING),
    step("old identity", "InitProducerId", 4, request={"producer_id": 7}, producer_id=8, producer_epoch=0),
    written("write", 11, "b", producer_id=8),
    ended("end", version=4, producer_id=8),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0), data(8, 0, "b"), commit(8, 0))},
)

REQUIREMENT = Requirement(
    id="KIP360-INIT-14",
    source=Source(360, "Proposed Changes: InvalidProducerIdMapping, 2: no mapping exists"),
    statement="After the id was forgotten, an identity from before is accepted as a new start.",
    needs=(Offers("InitProducerId", 3),),
    cluster=SOON_EXPIRED,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("not-forgotten", GOOD.with_step("end of a forgotten id", error=0)),
        Refusal("wrong-error", GOOD.with_step("end of a forgotten id", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step("end of a forgotten id", error=None)),
        Refusal("new-start-refused", GOOD.with_step("old identity", error=KafkaError.PRODUCER_FENCED)),
        Refusal("old-id-given", GOOD.with_step("old identity", producer_id=7)),
        Refusal("wrong-first-epoch", GOOD.with_step("old identity", producer_epoch=1)),
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.PRODUCER_FENCED)),
        *unsound(GOOD),
    ),
    refuted_by=(
        Failpoint(rules=FORGOTTEN_IDENTITY_FENCED, anomaly="new-start-refused"),
        Liar(api="EndTxn", instead_of=KafkaError.INVALID_PRODUCER_ID_MAPPING, error=0, anomaly="not-forgotten"),
        Failpoint(rules=OLD_ID_GIVEN_AGAIN, anomaly="old-id-given"),
    ),
)
