"""KIP588-RECOVER-07: a producer whose transaction timed out recovers nothing once a newer owner has begun.

The newer owner gets the epoch after the bumped one. Then the old one tries all that would have let it recover:
InitProducerId with its identity, an abort, and a write. An abort and a write are tried once more while
the newer owner has a transaction open, which commits untouched; InitProducerId at that moment is KIP360-INIT-12.

That no zombie gets through is what all the KIPs are about; the codes are Kafka's.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.coordinator_rules import ANY_EPOCH_MAY_END
from harness.contract.byteman.transaction_metadata_rules import INIT_REPETITION_TAKEN_FOR_THE_FIRST
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint, Liar, Unrefuted
from harness.contract.version_tables import fenced
from harness.lab import Lab, Partition, Producer
from harness.lab.powers.timeouts import timed_out

REFUSED = {"claim": "claim-accepted", "abort": "abort-accepted", "write": "write-accepted"}


def stimulus(lab: Lab) -> None:
    """The old owner tries before the newer one has written and while its transaction is open."""
    partition = lab.partition("P1")
    zombie = timed_out(lab, partition, protocol=2)
    own, epoch = zombie.producer_id, zombie.epoch
    owner = lab.same_id(zombie.transactional_id, zombie.coordinator, "rival", protocol=2)
    zombie.init(identity=(own, epoch), adopt=False, as_="claim")
    _go_on(zombie, partition, epoch)
    owner.produce(partition, as_="owner's write")
    _go_on(zombie, partition, epoch)
    lab.observer.transaction(owner.transactional_id, owner.coordinator, as_="kept")
    owner.end(commit=True, as_="owner's end")


def _go_on(zombie: Producer, partition: Partition, epoch: int) -> None:
    zombie.produce(partition, epoch=epoch, as_="write")
    zombie.end(commit=False, epoch=epoch, version=5, as_="abort")


def check(seen: Evidence) -> Observations:
    """All of it is refused; the owner's transaction stays open and commits."""
    for name, accepted in REFUSED.items():
        for late in seen.all(name):
            code = fenced(late.api, late.version)
            yield expect.refused(late, code, code=Level.SHOULD, otherwise=accepted)
    yield expect.keeps(seen["kept"], state="Ongoing", partitions=("P1",), otherwise="owner-disturbed")
    for mine in (seen["owner's write"], seen["owner's end"]):
        yield expect.accepted(mine, otherwise="owner-disturbed")
    written = seen["owner's write"].written()
    yield from expect.sound(seen, committed=written)
    others = [value for value in seen.log().values()[1:] if value not in written]
    yield expect.agree("other values in P1", others, [], otherwise="zombies-record-appended")


GOOD = adopted(__file__, "KIP588-RECOVER-07")

REQUIREMENT = Requirement(
    id="KIP588-RECOVER-07",
    source=Source(588, "Proposed Changes"),
    statement="A producer cannot recover from its timeout once a newer instance has begun.",
    needs=(Offers("EndTxn", 5), Offers("Produce", 12), Offers("InitProducerId", 4)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal(accepted, GOOD.with_step(name, error=0)) for name, accepted in REFUSED.items()),
        *(Refusal("wrong-error", GOOD.with_step(name, error=KafkaError.INVALID_TXN_STATE)) for name in REFUSED),
        Refusal("unanswered", GOOD.with_step("claim", error=None)),
        Refusal("owner-disturbed", GOOD.with_step("kept", state="CompleteAbort", partitions=[])),
        Refusal("owner-disturbed", GOOD.with_step("owner's end", error=KafkaError.PRODUCER_FENCED)),
        Refusal("zombies-record-appended", GOOD.with_log("P1", batches=(*GOOD.log().batches, *GOOD.log().batches[:1]))),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=ANY_EPOCH_MAY_END, anomaly="abort-accepted"),
        Failpoint(rules=INIT_REPETITION_TAKEN_FOR_THE_FIRST, anomaly="claim-accepted"),
        Liar(api="Produce", error=0, instead_of=KafkaError.INVALID_PRODUCER_EPOCH, anomaly="write-accepted"),
        Failpoint(rules=ANY_EPOCH_MAY_END, anomaly="owner-disturbed"),
        Unrefuted(
            anomaly="zombies-record-appended",
            reason="the leader compares the epoch and asks the coordinator, which compares it too: both had to fail",
        ),
    ),
)
