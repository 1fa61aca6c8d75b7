"""KIP890-BUMP-14: EndTxn with an unknown or foreign identity is refused and changes nothing.

Every offered version is tried. That a user without Write on the transactional id is refused too
(TRANSACTIONAL_ID_AUTHORIZATION_FAILED) cannot be seen on a cluster without an authorizer, so it is not tried here.
"""

from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.coordinator_rules import ANY_PRODUCER_ID_MAY_END, UNKNOWN_ID_ANSWERED_AS_STALE
from harness.contract.doctored import abort, commit, data, described, ended, evidence, log, sample
from harness.contract.refuters import Failpoint
from harness.lab import Lab

ERRORS = {
    "unknown id": KafkaError.INVALID_PRODUCER_ID_MAPPING,
    "foreign producer id": KafkaError.INVALID_PRODUCER_ID_MAPPING,
    "empty id": KafkaError.INVALID_REQUEST,
    "another broker": KafkaError.NOT_COORDINATOR,
}


def stimulus(lab: Lab) -> None:
    """While a transaction is open: an unknown id, another's producer id, no id, and a broker that keeps none."""
    txn, other, partition = lab.producer(), lab.producer(), lab.partition("P1")
    txn.write(partition)
    unknown = lab.producer("rival", init=False)
    unknown.become(txn.producer_id, txn.epoch)
    elsewhere = lab.another_broker(txn.coordinator)
    for version in lab.offered("EndTxn", range(6)):
        unknown.end(commit=True, version=version, as_="unknown id", retry=())
        txn.end(commit=True, version=version, producer_id=other.producer_id, as_="foreign producer id", retry=())
        txn.end(commit=True, version=version, transactional_id="", as_="empty id", retry=())
        txn.end(commit=True, version=version, node=elsewhere, as_="another broker", retry=())
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
    lab.sample("after")
    txn.end(commit=False, as_="own end")


def check(seen: Evidence) -> Observations:
    """Each is refused with its own error and no identity; the open transaction is left to its own end."""
    for name, error in ERRORS.items():
        for end in seen.all(name):
            yield expect.refused(end, error, otherwise="foreign-end-accepted")
            yield expect.identity(end, -1, -1, otherwise="identity-returned")
    own_end, kept = seen["own end"], seen["kept"]
    own, epoch = own_end.request_int("producer_id"), own_end.request_int("producer_epoch")
    yield expect.keeps(kept, state="Ongoing", producer_id=own, epoch=epoch, otherwise="transaction-changed")
    yield expect.agree("LSO before its own end", seen.sample("after").last_stable_offset, 0, otherwise="early-marker")
    yield expect.accepted(own_end, otherwise="own-end-refused")
    yield expect.marks(seen, "P1", ("ABORT", epoch))


GOOD = evidence(
    *(ended(name, version=version, error=error) for version in (4, 5) for name, error in ERRORS.items()),
    described("kept", "Ongoing"),
    ended("own end", version=4, committed=False),
    logs={"P1": log(data(7, 0, "a"), abort(7, 0))},
    samples=(sample("after", "P1", 1, 0),),
)

REQUIREMENT = Requirement(
    id="KIP890-BUMP-14",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="EndTxn with an unknown or foreign identity is refused and changes nothing.",
    needs=(Offers("EndTxn", 3),),
    access=(Access.BROKERS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("foreign-end-accepted", GOOD.with_step(name, error=0)) for name in ERRORS),
        *(Refusal("wrong-error", GOOD.with_step(name, error=KafkaError.INVALID_TXN_STATE)) for name in ERRORS),
        Refusal("unanswered", GOOD.with_step("another broker", error=None)),
        Refusal("identity-returned", GOOD.with_step("foreign producer id", producer_id=7, producer_epoch=0)),
        Refusal("transaction-changed", GOOD.with_step("kept", state="CompleteCommit")),
        Refusal("early-marker", GOOD.with_sample("after", last_stable_offset=1)),
        Refusal("own-end-refused", GOOD.with_step("own end", error=KafkaError.PRODUCER_FENCED)),
        Refusal("wrong-markers", GOOD.with_log("P1", log(data(7, 0, "a"), commit(7, 0)))),
    ),
    refuted_by=(
        Failpoint(rules=ANY_PRODUCER_ID_MAY_END, anomaly="foreign-end-accepted"),
        Failpoint(rules=UNKNOWN_ID_ANSWERED_AS_STALE, anomaly="wrong-error"),
    ),
)
