"""KIP588-ERR-02: InitProducerId with an identity that was fenced is refused, by a code of the request's version.

An epoch that two others have superseded, and the producer id of somebody else, at every version that carries an
identity (KIP-360); the epoch is left as it is, and the current identity is accepted.

KIP-588's rule for the other requests to the coordinator, one version later: PRODUCER_FENCED from version 4 on, and
INVALID_PRODUCER_EPOCH before (``KafkaApis.handleInitProducerIdRequest``). That it is refused is KIP-360's promise.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.transaction_metadata_rules import INIT_REPETITION_TAKEN_FOR_THE_FIRST
from harness.contract.doctored import commit, data, evidence, log, step, unsound
from harness.contract.refuters import Failpoint, Liar
from harness.contract.version_tables import fenced
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab

FENCED = KafkaError.PRODUCER_FENCED


def stimulus(lab: Lab) -> None:
    """At each version: two identities that are not the current one, then the current one."""
    txn, other, partition = lab.producer("victim"), lab.producer("rival"), lab.partition("P1")
    for version in lab.offered("InitProducerId", (3, 4, 5)):
        own, first = txn.producer_id, txn.epoch
        txn.init()
        txn.init()
        txn.init(identity=(own, first), version=version, adopt=False, as_="superseded epoch")
        txn.init(identity=(other.producer_id, txn.epoch), version=version, adopt=False, as_="foreign producer id")
        txn.init(identity=(own, txn.epoch), version=version, as_="current identity")
    txn.add(partition)
    txn.produce(partition, as_="write")
    txn.end(commit=True)


def check(seen: Evidence) -> Observations:
    """Refused by version; the current identity gets the next epoch, as if they had not been."""
    for name in ("superseded epoch", "foreign producer id"):
        for stale in seen.all(name):
            code = fenced("InitProducerId", stale.version)
            yield expect.refused(stale, code, code=Level.SHOULD, otherwise="fenced-identity-accepted")
    for current in seen.all("current identity"):
        own, epoch = current.request_int("producer_id"), current.request_int("producer_epoch")
        yield expect.accepted(current, otherwise="current-identity-refused")
        if current.error == 0:
            yield expect.identity(current, own, epoch + 1)
    yield from expect.sound(seen, committed=expect.values(seen, "write"))


def _asked(name: str, version: int, epoch: int, producer_id: int = 7) -> Step:
    """Doctored: accepted for the current identity alone."""
    request = {"producer_id": producer_id, "producer_epoch": epoch}
    if name == "current identity":
        return step(name, "InitProducerId", version, request=request, producer_id=7, producer_epoch=epoch + 1)
    return step(name, "InitProducerId", version, error=fenced("InitProducerId", version), request=request)


GOOD = evidence(
    *(_asked("superseded epoch", version, 0) for version in (3, 4)),
    *(_asked("foreign producer id", version, 2, 8) for version in (3, 4)),
    *(_asked("current identity", version, 2) for version in (3, 4)),
    step("write", "Produce", 11, request={"values": ["a"]}),
    logs={"P1": log(data(7, 3, "a"), commit(7, 3))},
)

REQUIREMENT = Requirement(
    id="KIP588-ERR-02",
    source=Source(588, "Public Interfaces"),
    statement="InitProducerId with a fenced identity is refused, with the code of its version.",
    needs=(Offers("InitProducerId", 3),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("fenced-identity-accepted", GOOD.with_step("superseded epoch", error=0)),
        Refusal("fenced-identity-accepted", GOOD.with_step("foreign producer id", error=0)),
        Refusal("wrong-error", GOOD.with_step("foreign producer id", error=KafkaError.INVALID_PRODUCER_ID_MAPPING)),
        Refusal("unanswered", GOOD.with_step("superseded epoch", error=None)),
        Refusal("current-identity-refused", GOOD.with_step("current identity", error=FENCED)),
        Refusal("wrong-identity-returned", GOOD.with_step("current identity", producer_epoch=4)),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=INIT_REPETITION_TAKEN_FOR_THE_FIRST, anomaly="fenced-identity-accepted"),
        Liar(
            api="InitProducerId",
            error=KafkaError.INVALID_PRODUCER_EPOCH,
            instead_of=FENCED,
            anomaly="wrong-error",
        ),
        Liar(
            api="InitProducerId", error=FENCED, versions=(3, 3), skip=2, at_most=1, anomaly="current-identity-refused"
        ),
    ),
)
