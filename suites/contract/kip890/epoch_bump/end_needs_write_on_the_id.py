"""KIP890-BUMP-14-USER: EndTxn of a user without Write on the transactional id is refused and changes nothing.

The part of KIP890-BUMP-14 that needs an authorizer. The permission and its code are KIP-98's, so the code is judged as
Kafka's, and so is that no identity is returned.
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    TransactionResult,
    expect,
)
from harness.contract.byteman.authorizer_rules import EVERYTHING_ALLOWED, NO_WRITE_OF_IDS
from harness.contract.doctored import commit, data, described, ended, evidence, log, sample, unsound, written
from harness.contract.refuters import Failpoint
from harness.lab import Lab
from harness.lab.powers.users import AclOperation, on_id, on_topic
from suites.contract.wishes import ALICE, USERS

REFUSED = KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
CASES = tuple(f"user's {result.noun}" for result in TransactionResult)


def stimulus(lab: Lab) -> None:
    """Write on the topic alone, and Describe on the id: commit and abort at every version; then Write on the id."""
    txn, partition = lab.producer(), lab.partition("P1")
    txn.add(partition)
    txn.produce(partition, as_="write")
    own = lab.users.acting(ALICE, txn)
    with lab.grant(ALICE, on_topic(partition, AclOperation.WRITE), on_id(txn, AclOperation.DESCRIBE)):
        for version in lab.offered("EndTxn", range(6)):
            for name, result in zip(CASES, TransactionResult, strict=True):
                if own.end(commit=result.commits, version=version, as_=name, retry=()).error == 0:
                    return
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
    lab.sample("refused", partition)
    with lab.grant(ALICE, on_id(txn, AclOperation.WRITE)):
        own.end(commit=True, as_="end")


def check(seen: Evidence) -> Observations:
    """Refused with no identity, the transaction open as before; with Write on the id it ends."""
    for name in CASES:
        for end in expect.taken(seen, name):
            yield expect.refused(end, REFUSED, otherwise="unauthorized-end-accepted", code=Level.SHOULD)
            yield expect.habit(expect.identity(end, -1, -1, otherwise="identity-returned"))
    yield expect.keeps(seen["kept"], state="Ongoing", epoch=0, partitions=("P1",), otherwise="transaction-changed")
    yield expect.unstable(seen.sample("refused"), otherwise="early-marker")
    yield expect.accepted(seen["end"], otherwise="authorized-end-refused")
    yield from expect.sound(seen, "P1", seen["write"].written())


GOOD = evidence(
    written("write", 11, "a"),
    *(ended(name, version=version, error=REFUSED) for version in (0, 5) for name in CASES),
    described("kept", "Ongoing", partitions=("P1",)),
    ended(version=4),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0))},
    samples=(sample("refused", "P1", 1, 0),),
)

REQUIREMENT = Requirement(
    id="KIP890-BUMP-14-USER",
    source=Source(890, "Bump Epoch on Each Transaction for New Clients (1)"),
    statement="EndTxn of a user without Write on the transactional id is refused and changes nothing.",
    needs=(Offers("EndTxn", 3),),
    cluster=USERS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("unauthorized-end-accepted", GOOD.with_step(name, error=0)) for name in CASES),
        Refusal("wrong-error", GOOD.with_step(CASES[0], error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step(CASES[1], error=None)),
        Refusal("identity-returned", GOOD.with_step(CASES[0], producer_id=7, producer_epoch=0)),
        Refusal("transaction-changed", GOOD.with_step("kept", producer_epoch=1)),
        Refusal("early-marker", GOOD.with_sample("refused", last_stable_offset=1)),
        Refusal("authorized-end-refused", GOOD.with_step("end", error=REFUSED)),
        *unsound(GOOD),
    ),
    refuted_by=(
        Failpoint(rules=EVERYTHING_ALLOWED, anomaly="unauthorized-end-accepted"),
        Failpoint(rules=NO_WRITE_OF_IDS, anomaly="authorized-end-refused"),
    ),
)
