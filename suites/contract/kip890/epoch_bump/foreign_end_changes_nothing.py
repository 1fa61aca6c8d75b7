"""KIP890-BUMP-14: EndTxn with an unknown or foreign identity is refused and changes nothing.

Every offered version is tried, each case on an open transaction of its own and no further once it was accepted. That
the foreign end is refused is promised; with which code is Kafka's habit, and so is it that only one broker ends the
transactions of an id: where every broker coordinates, the case is left out of what must be refused. That a user without
Write on the transactional id is refused too (TRANSACTIONAL_ID_AUTHORIZATION_FAILED) cannot be seen on a cluster without
an authorizer, so it is not tried here.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.coordinator_rules import ANY_PRODUCER_ID_MAY_END, UNKNOWN_ID_ANSWERED_AS_STALE
from harness.contract.doctored import abort, data, described, ended, evidence, log, sample, unsound
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab, Producer

ERRORS = {
    "unknown id": KafkaError.INVALID_PRODUCER_ID_MAPPING,
    "foreign producer id": KafkaError.INVALID_PRODUCER_ID_MAPPING,
    "empty id": KafkaError.INVALID_REQUEST,
}
PARTITIONS = dict(zip(ERRORS, ("P1", "P2", "P3"), strict=True))


def stimulus(lab: Lab) -> None:
    """While a transaction is open: an unknown id, another's producer id, no id; then a broker that keeps none."""
    other, unknown = lab.producer(), lab.producer("rival", init=False)
    versions = lab.offered("EndTxn", range(6))
    for name, alias in PARTITIONS.items():
        partition, txn = lab.partition(alias), lab.producer()
        txn.write(partition)
        unknown.become(txn.producer_id, txn.epoch)
        for version in versions:
            if _foreign_end(name, version, txn, unknown, other).error == 0:
                break
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_=f"kept, {name}")
        lab.sample(name, partition)
        txn.end(commit=False, as_=f"own end, {name}")
    _another_broker(lab, versions)


def _foreign_end(name: str, version: int, txn: Producer, unknown: Producer, other: Producer) -> Step:
    if name == "unknown id":
        return unknown.end(commit=True, version=version, as_=name, retry=())
    if name == "foreign producer id":
        return txn.end(commit=True, version=version, producer_id=other.producer_id, as_=name, retry=())
    return txn.end(commit=True, version=version, transactional_id="", as_=name, retry=())


def _another_broker(lab: Lab, versions: tuple[int, ...]) -> None:
    partition, txn = lab.partition("P4"), lab.producer()
    txn.write(partition)
    for elsewhere in [broker for broker in lab.cluster.topology.brokers if broker != txn.coordinator][:1]:
        for version in versions:
            if txn.end(commit=False, version=version, node=elsewhere, as_="another broker", retry=()).error == 0:
                return
    txn.end(commit=False)


def check(seen: Evidence) -> Observations:
    """Each is refused with its own error and no identity; the open transaction is left to its own end."""
    for name, error in ERRORS.items():
        own_end, kept = seen[f"own end, {name}"], seen[f"kept, {name}"]
        for end in seen.all(name):
            yield expect.refused(end, error, code=Level.SHOULD, otherwise="foreign-end-accepted")
            yield expect.habit(expect.identity(end, -1, -1, otherwise="identity-returned"))
        own, epoch = own_end.request_int("producer_id"), own_end.request_int("producer_epoch")
        yield expect.keeps(kept, state="Ongoing", producer_id=own, epoch=epoch, otherwise="transaction-changed")
        yield expect.unstable(seen.sample(name), otherwise="early-marker")
        yield expect.accepted(own_end, otherwise="own-end-refused")
        yield from expect.sound(seen, PARTITIONS[name], committed=(), markers=(("ABORT",),))
    for end in expect.taken(seen, "another broker"):
        yield expect.habit(expect.refused(end, KafkaError.NOT_COORDINATOR, otherwise="foreign-end-accepted"))


GOOD = evidence(
    *(ended(name, version=version, error=error) for version in (4, 5) for name, error in ERRORS.items()),
    *(described(f"kept, {name}", "Ongoing") for name in ERRORS),
    *(ended(f"own end, {name}", version=4, committed=False) for name in ERRORS),
    *(ended("another broker", version=version, error=KafkaError.NOT_COORDINATOR) for version in (4, 5)),
    logs={alias: log(data(7, 0, "a"), abort(7, 0)) for alias in PARTITIONS.values()},
    samples=tuple(sample(name, alias, 1, 0) for name, alias in PARTITIONS.items()),
)

REQUIREMENT = Requirement(
    id="KIP890-BUMP-14",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="EndTxn with an unknown or foreign identity is refused and changes nothing.",
    needs=(Offers("EndTxn", 3),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, GOOD.without_step("another broker")),
    refuses=(
        *(Refusal("foreign-end-accepted", GOOD.with_step(name, error=0)) for name in (*ERRORS, "another broker")),
        *(Refusal("wrong-error", GOOD.with_step(name, error=KafkaError.INVALID_TXN_STATE)) for name in ERRORS),
        Refusal("unanswered", GOOD.with_step("empty id", error=None)),
        Refusal("identity-returned", GOOD.with_step("foreign producer id", producer_id=7, producer_epoch=0)),
        Refusal("transaction-changed", GOOD.with_step("kept, empty id", state="CompleteCommit")),
        Refusal("early-marker", GOOD.with_sample("unknown id", last_stable_offset=1)),
        Refusal("own-end-refused", GOOD.with_step("own end, unknown id", error=KafkaError.PRODUCER_FENCED)),
        Refusal("wrong-markers", GOOD.with_log("P2", log(data(7, 0, "a"), abort(7, 0), abort(7, 0)))),
        *unsound(GOOD, "P3", appended=None),
    ),
    refuted_by=(
        Failpoint(rules=ANY_PRODUCER_ID_MAY_END, anomaly="foreign-end-accepted"),
        Failpoint(rules=UNKNOWN_ID_ANSWERED_AS_STALE, anomaly="wrong-error"),
    ),
)
