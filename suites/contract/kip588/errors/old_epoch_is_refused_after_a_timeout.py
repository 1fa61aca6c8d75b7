"""KIP588-ERR-01: after a timeout the coordinator refuses requests in the old epoch, by a code of the request's version.

AddPartitionsToTxn, AddOffsetsToTxn and EndTxn, at every version of an old client, once after the abort and once while
the id's next owner has a transaction open, which stays as it is.

The KIP has code 90 for those three APIs from version 2 on, and calls it TRANSACTION_TIMED_OUT, after which a client
tries again with its identity. That was never made (KAFKA-9910): 90 is PRODUCER_FENCED, which is fatal. That the
requests are refused is the promise; the codes are Kafka's.
"""

from harness.contract import (
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.coordinator_rules import ADD_IN_THE_CURRENT_EPOCH, ANY_EPOCH_MAY_END
from harness.contract.doctored import adopted, unsound
from harness.contract.refuters import Failpoint, Liar
from harness.contract.version_tables import fenced
from harness.lab import Group, Lab, Partition, Producer
from harness.lab.powers.timeouts import timed_out

APIS = ("AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn")
OLD_EPOCH = {api: f"{api} in the old epoch" for api in APIS}
OTHER = KafkaError.INVALID_TXN_STATE


def stimulus(lab: Lab) -> None:
    """One transaction times out; its producer goes on as if nothing had happened, before and after the id moved on."""
    partition, another, group = lab.partition("P1"), lab.partition("P2"), lab.group()
    txn = timed_out(lab, partition, protocol=1)
    _go_on(lab, txn, another, group)
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
    owner = lab.same_id(txn.transactional_id, txn.coordinator, "rival")
    owner.add(partition)
    owner.produce(partition, as_="next write")
    _go_on(lab, txn, another, group)
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="still open")
    owner.end(commit=True, as_="next end")


def _go_on(lab: Lab, txn: Producer, another: Partition, group: Group) -> None:
    for version in lab.offered("AddPartitionsToTxn", range(4)):
        txn.add(another, version=version, as_=OLD_EPOCH["AddPartitionsToTxn"])
    for version in lab.offered("AddOffsetsToTxn", range(5)):
        txn.add_offsets(group, version=version, as_=OLD_EPOCH["AddOffsetsToTxn"])
    for version in lab.offered("EndTxn", range(5)):
        for commit in (True, False):
            txn.end(commit=commit, version=version, as_=OLD_EPOCH["EndTxn"])


def check(seen: Evidence) -> Observations:
    """Refused by version; what the coordinator keeps does not change, and the next owner commits."""
    for api, name in OLD_EPOCH.items():
        for late in seen.all(name):
            yield expect.refused(late, fenced(api, late.version), code=Level.SHOULD, otherwise="old-epoch-accepted")
    yield expect.over(seen["timed out"])
    yield expect.unchanged(seen["timed out"], seen["kept"], "state", "producer_epoch", otherwise="state-changed")
    yield expect.keeps(seen["still open"], state="Ongoing", partitions=("P1",), otherwise="next-transaction-disturbed")
    for mine in (seen["next write"], seen["next end"]):
        yield expect.accepted(mine, otherwise="next-owner-refused")
    yield from expect.sound(seen, committed=seen["next write"].written())
    yield expect.marks(seen, "P1", ("ABORT",), ("COMMIT",))


GOOD = adopted(__file__, "KIP588-ERR-01")
_UNENDED = GOOD.with_step("timed out", state="Ongoing")

REQUIREMENT = Requirement(
    id="KIP588-ERR-01",
    source=Source(588, "Public Interfaces; Proposed Changes (2)"),
    statement="After a timeout, what asks the coordinator in the old epoch is refused, by the code of its version.",
    needs=(Offers("InitProducerId", 0), Offers("AddOffsetsToTxn", 0)),
    order=Order.ALONE,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("old-epoch-accepted", GOOD.with_step(name, error=0)) for name in OLD_EPOCH.values()),
        *(Refusal("wrong-error", GOOD.with_step(name, error=OTHER)) for name in OLD_EPOCH.values()),
        Refusal("unanswered", GOOD.with_step(OLD_EPOCH["EndTxn"], error=None)),
        Refusal("transaction-not-over", _UNENDED.with_step("kept", state="Ongoing")),
        Refusal("state-changed", GOOD.with_step("kept", producer_epoch=9)),
        Refusal("next-transaction-disturbed", GOOD.with_step("still open", partitions=["P1", "P2"])),
        Refusal("next-owner-refused", GOOD.with_step("next end", error=KafkaError.PRODUCER_FENCED)),
        Refusal("wrong-markers", GOOD.with_log("P1", batches=GOOD.log().batches[:-1])),
        *unsound(GOOD, appended=None),
    ),
    refuted_by=(
        Failpoint(rules=ADD_IN_THE_CURRENT_EPOCH, anomaly="old-epoch-accepted"),
        Failpoint(rules=ANY_EPOCH_MAY_END, anomaly="old-epoch-accepted"),
        Liar(api="EndTxn", error=OTHER, instead_of=KafkaError.PRODUCER_FENCED, anomaly="wrong-error"),
        Failpoint(rules=ANY_EPOCH_MAY_END, anomaly="next-transaction-disturbed"),
        Liar(api="EndTxn", instead_of=0, error=OTHER, anomaly="next-owner-refused"),
    ),
)
