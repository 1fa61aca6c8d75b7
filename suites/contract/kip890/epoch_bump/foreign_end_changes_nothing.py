"""KIP890-BUMP-14: EndTxn with an unknown or foreign identity is refused and changes nothing.

Every offered version is tried. That a user without Write on the transactional id is refused too (53) cannot be seen
on a cluster without an authorizer, so it is not tried here.
"""

from collections.abc import Iterator

from harness.base.json_value import Json
from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Refusal,
    Requirement,
    Source,
    accepted,
    agree,
    refused,
    shows,
)
from harness.contract.byteman.coordinator_rules import ANY_PRODUCER_ID_MAY_END, UNKNOWN_ID_ANSWERED_AS_STALE
from harness.contract.doctored import abort, commit, data, evidence, log, sample, step
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab

CODES = {"unknown id": 49, "foreign producer id": 49, "empty id": 42, "another broker": 16}


def stimulus(lab: Lab) -> None:
    """While a transaction is open: an unknown id, another's producer id, no id, and a broker that keeps none."""
    txn, other = (lab.producer("victim", protocol=1) for _ in range(2))
    partition = lab.partition("P1")
    txn.write(partition)
    ghost = lab.producer("rival", protocol=1, init=False)
    ghost.become(txn.producer_id, txn.epoch)
    elsewhere = next(broker for broker in lab.cluster.topology.brokers if broker != txn.coordinator)
    for version in lab.offered("EndTxn", range(6)):
        ghost.end(commit=True, version=version, as_="unknown id", retry=())
        txn.end(commit=True, version=version, producer_id=other.producer_id, as_="foreign producer id", retry=())
        txn.end(commit=True, version=version, transactional_id="", as_="empty id", retry=())
        txn.end(commit=True, version=version, node=elsewhere, as_="another broker", retry=())
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
    lab.sample("after")
    txn.end(commit=False, as_="own end")


def check(seen: Evidence) -> Iterator[Observation]:
    """Each is refused with its own code and no identity; the open transaction is left to its own end."""
    for name, code in CODES.items():
        for end in seen.all(name):
            yield refused(end, code, otherwise="foreign-end-accepted")
            yield shows(end, producer_id=-1, producer_epoch=-1, otherwise="identity-returned")
    own, after = seen["own end"], seen.sample("after")
    epoch = own.asked("producer_epoch")
    yield shows(
        seen["kept"],
        state="Ongoing",
        producer_id=own.asked("producer_id"),
        producer_epoch=epoch,
        otherwise="transaction-changed",
    )
    yield agree("LSO before its own end", after.last_stable_offset, 0, otherwise="early-marker")
    yield accepted(own, otherwise="own-end-refused")
    yield agree("markers", seen.log().marks(), (("ABORT", epoch),), own, otherwise="wrong-markers")


_SAID: dict[str, Json] = {"producer_id": 7, "producer_epoch": 0}
GOOD = evidence(
    *(
        step(name, "EndTxn", version, error=code, producer_id=-1, producer_epoch=-1)
        for version in (4, 5)
        for name, code in CODES.items()
    ),
    step("kept", "DescribeTransactions", 0, state="Ongoing", producer_id=7, producer_epoch=0),
    step("own end", "EndTxn", 4, request=_SAID),
    logs={"P1": log(data(7, 0, "a"), abort(7, 0))},
    samples=(sample("after", "P1", 1, 0),),
)

REQUIREMENT = Requirement(
    id="KIP890-BUMP-14",
    level=Level.MUST,
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="EndTxn with an unknown or foreign identity is refused and changes nothing.",
    needs=(Offers("EndTxn", 3),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("foreign-end-accepted", GOOD.with_step(name, error=0)) for name in CODES),
        *(Refusal("wrong-error", GOOD.with_step(name, error=48)) for name in CODES),
        Refusal("unanswered", GOOD.with_step("another broker", error=None)),
        Refusal("identity-returned", GOOD.with_step("foreign producer id", producer_id=7, producer_epoch=0)),
        Refusal("transaction-changed", GOOD.with_step("kept", state="CompleteCommit")),
        Refusal("early-marker", GOOD.with_sample("after", last_stable_offset=1)),
        Refusal("own-end-refused", GOOD.with_step("own end", error=90)),
        Refusal("wrong-markers", GOOD.with_log("P1", log(data(7, 0, "a"), commit(7, 0)))),
    ),
    refuted_by=(
        Failpoint(rules=ANY_PRODUCER_ID_MAY_END, anomaly="foreign-end-accepted"),
        Failpoint(rules=UNKNOWN_ID_ANSWERED_AS_STALE, anomaly="wrong-error"),
    ),
)
