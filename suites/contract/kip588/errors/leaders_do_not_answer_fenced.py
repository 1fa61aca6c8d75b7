"""KIP588-ERR-03: a partition's leader answers a stale epoch with INVALID_PRODUCER_EPOCH, never with PRODUCER_FENCED.

A leader does not know whether an epoch was bumped for a timeout or for another owner, so a client must be able to take
its answer for one after which it aborts, and asks the coordinator. After a timeout, and after another owner has begun,
at every version: to a partition of the transaction and to one that it never had, where the leader asks the coordinator
and hears PRODUCER_FENCED.

That the record does not get in, and that the code is not the fatal one, is the KIP's aim; INVALID_PRODUCER_EPOCH is
what Kafka made of it (2.7).
"""

from harness.contract import (
    Evidence,
    KafkaError,
    Level,
    Observation,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.leader_rules import NO_EPOCH_CHECK
from harness.contract.byteman.verification_rules import EVERY_PARTITION_VERIFIED
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint, Liar
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab, Partition, Producer
from harness.lab.powers.timeouts import timed_out

FENCED, STALE = KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH
CAUSES = ("timeout", "another owner")


def stimulus(lab: Lab) -> None:
    """Two producers lose their epoch and go on writing."""
    known, fresh = lab.partition("P1"), lab.partition("P2")
    _write(lab, timed_out(lab, known, protocol=1), known, fresh, after="timeout")
    txn = lab.producer("victim")
    txn.write(known)
    owner = lab.same_id(txn.transactional_id, txn.coordinator, "rival")
    lab.completed(known)
    _write(lab, txn, known, fresh, after="another owner")
    owner.add(known)
    owner.produce(known, as_="owner's write")
    owner.end(commit=True)


def _write(lab: Lab, txn: Producer, *partitions: Partition, after: str) -> None:
    for version in lab.offered("Produce", range(3, 14)):
        for partition in partitions:
            txn.produce(partition, version=version, as_=f"stale write after {after}")


def check(seen: Evidence) -> Observations:
    """Each is refused, with the code that is not fatal, and leaves no trace."""
    for cause in CAUSES:
        for stale in seen.all(f"stale write after {cause}"):
            yield _not_fenced(stale)
    written = expect.values(seen, "owner's write")
    yield from expect.sound(seen, "P1", committed=written)
    yield expect.agree("values in P1", len(seen.log("P1").values()), 3, otherwise="stale-record-appended")
    yield expect.agree("values in P2", seen.log("P2").values(), (), otherwise="stale-record-appended")


def _not_fenced(stale: Step) -> Observation:
    if stale.error == FENCED:
        return expect.finding("leader-answers-fenced", f"Produce v{stale.version} was answered PRODUCER_FENCED", stale)
    return expect.refused(stale, STALE, code=Level.SHOULD, otherwise="stale-write-accepted")


GOOD = adopted(__file__, "KIP588-ERR-03")
_BOTH = tuple(f"stale write after {cause}" for cause in CAUSES)

REQUIREMENT = Requirement(
    id="KIP588-ERR-03",
    source=Source(588, "Proposed Changes: how to handle ProducerFenced from Produce requests"),
    statement="Partition leaders answer a stale epoch with INVALID_PRODUCER_EPOCH, never with PRODUCER_FENCED.",
    needs=(Offers("Produce", 7), Offers("InitProducerId", 0)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("stale-write-accepted", GOOD.with_step(name, error=0)) for name in _BOTH),
        *(Refusal("leader-answers-fenced", GOOD.with_step(name, error=FENCED)) for name in _BOTH),
        Refusal("wrong-error", GOOD.with_step(_BOTH[0], error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step(_BOTH[1], error=None)),
        Refusal("stale-record-appended", GOOD.with_log("P2", GOOD.log("P1"))),
        Refusal("stale-record-appended", GOOD.with_log("P1", batches=GOOD.log("P1").batches[:-2])),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Liar(api="Produce", error=FENCED, instead_of=STALE, anomaly="leader-answers-fenced"),
        Failpoint(rules=NO_EPOCH_CHECK + EVERY_PARTITION_VERIFIED, anomaly="stale-write-accepted"),
        Failpoint(rules=NO_EPOCH_CHECK + EVERY_PARTITION_VERIFIED, anomaly="stale-record-appended"),
    ),
)
