"""KIP890-OVF-08: no client is ever given the epoch 32767, whichever way its epochs come to their end.

The coordinator keeps that one back, so that it can always fence the owner of an id (``TransactionMetadata``): of a
producer in it nobody could get rid. Epochs are bumped by InitProducerId with an identity and without one, and by the
end of a transaction: a commit, an abort, an abort of nothing, and one that comes after the coordinator's own. That
which epoch is kept back is Kafka's choice; that a producer must be fenced by a bumped epoch is KIP-98's and KIP-360's.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    NotSeen,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman import transaction_metadata_rules as rules
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint, Liar, Release
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab, Partition, Producer
from harness.lab.powers.last_epochs import LAST_EPOCH

TIMEOUT_MS = 1_000
ABORTED_SECONDS = 20.0
FENCED = (KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_ID_MAPPING)
OWN, NONE, COMMIT, ABORT, NOTHING, LATE = WAYS = (
    "own identity",
    "no identity",
    "commit",
    "abort",
    "abort of nothing",
    "abort after the coordinator's",
)


def stimulus(lab: Lab) -> None:
    """From the epoch before the last two bumps each way; then a rival takes over."""
    partition = lab.partition("P1")
    last = lab.cluster.topology.brokers[-1]  # OVF-07 asks the first one, which may abort nothing any more
    made = lab.near_the_end(epoch=LAST_EPOCH - 1, count=len(WAYS), protocol=2, timeout_ms=TIMEOUT_MS, coordinator=last)
    for txn, way in zip(made, WAYS, strict=True):
        for _ in range(2):
            _bump(lab, txn, way, partition)
        lab.same_id(txn.transactional_id, txn.coordinator, "rival", init=False).init(as_="rival")
        txn.end(commit=False, as_="after the rival")


def _bump(lab: Lab, txn: Producer, way: str, partition: Partition) -> None:
    if way in (OWN, NONE):
        identity = (txn.producer_id, txn.epoch) if way == OWN else (-1, -1)
        txn.init(identity=identity, timeout_ms=TIMEOUT_MS, as_=way)
        return
    if way != NOTHING:
        txn.produce(partition, as_="write")
    if way == LATE:
        lab.reached(txn, "CompleteAbort", as_="aborted", timeout_seconds=ABORTED_SECONDS)
    txn.end(commit=way == COMMIT, as_=way)
    lab.reached(txn, "CompleteCommit" if way == COMMIT else "CompleteAbort", as_="ended")


def check(seen: Evidence) -> Observations:
    """Each way leads from one usable identity to the next, of which another producer can still take over."""
    for way in WAYS:
        for bump in seen.all(way):
            yield expect.accepted(bump, otherwise="refused-at-the-end")
            yield usable(bump)
    for rival in seen.all("rival"):
        yield expect.accepted(rival, otherwise="nobody-can-take-over")
        yield usable(rival)
    for late in seen.all("after the rival"):
        yield expect.refused(late, *FENCED, code=Level.SHOULD, otherwise="old-owner-not-fenced")
    committed = [value for step in seen.all("write")[:2] for value in step.written()]
    yield from expect.sound(seen, "P1", committed=committed)
    if any(look.fields.get("state") in expect.GOING_ON for look in expect.taken(seen, "aborted")):
        raise NotSeen("the coordinator aborted nothing, so that no end came after its own")


def usable(given: Step) -> expect.Observation:
    """An epoch after which there is another one."""
    epoch = given.fields.get("producer_epoch")
    kept_back = isinstance(epoch, int) and epoch > LAST_EPOCH
    return expect.unless(not kept_back, f"epoch {epoch} is not kept back", given, otherwise="reserved-epoch-given")


GOOD = adopted(__file__, "KIP890-OVF-08")

REQUIREMENT = Requirement(
    id="KIP890-OVF-08",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1), overflow"),
    statement="A client is never given the epoch 32767.",
    needs=(Offers("InitProducerId", 3), Offers("EndTxn", 5), Offers("Produce", 12)),
    order=Order.LAST,
    access=(Access.LOAD,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("refused-at-the-end", GOOD.with_step(NOTHING, error=KafkaError.UNKNOWN_SERVER_ERROR)),
        Refusal("reserved-epoch-given", GOOD.with_step(LATE, producer_epoch=LAST_EPOCH + 1)),
        Refusal("reserved-epoch-given", GOOD.with_step("rival", producer_epoch=LAST_EPOCH + 1)),
        Refusal("nobody-can-take-over", GOOD.with_step("rival", error=KafkaError.UNKNOWN_SERVER_ERROR)),
        Refusal("old-owner-not-fenced", GOOD.with_step("after the rival", error=0)),
        Refusal("wrong-error", GOOD.with_step("after the rival", error=KafkaError.INVALID_TXN_STATE)),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=rules.END_KEEPS_THE_PRODUCER_ID, anomaly="reserved-epoch-given"),
        Release(version="4.1.2", anomaly="reserved-epoch-given"),
        Liar(api="EndTxn", instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="refused-at-the-end"),
        Failpoint(rules=rules.OVERFLOWED_ID_CANNOT_BE_TAKEN_OVER, anomaly="nobody-can-take-over"),
    ),
)
