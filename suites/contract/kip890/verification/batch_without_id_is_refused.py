"""KIP890-VERIFY-19: a transactional batch in a request without transactional id is refused.

Nobody could be asked whether its transaction is open, so it would be appended unverified and never be ended. The code
is Kafka's, which takes the missing id for one that the user may not write under (KIP-98). That the same producer's
batch without the transactional bit needs no id and is taken is Kafka's too.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import NO_GUARD_AT_THE_APPEND
from harness.contract.byteman.verification_rules import NO_BATCH_SEEN_AS_TRANSACTIONAL
from harness.contract.doctored import commit, data, evidence, log, refused_write, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab
from harness.lab.powers.joint_requests import batches

UNGUARDED = NO_BATCH_SEEN_AS_TRANSACTIONAL + NO_GUARD_AT_THE_APPEND
REFUSED = KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def stimulus(lab: Lab) -> None:
    """Requests without an id: a batch of an added partition at every version; one that is not transactional."""
    txn, added, plain = lab.producer(), lab.partition("added"), lab.partition("plain")
    txn.add(added)
    for version in lab.offered("Produce", range(3, 14)):
        lab.joint().produce(added.leader, None, *batches(txn, added), version=version, as_="write without id")
    newest = lab.offered("Produce", range(3, 14))[-1]
    batch = batches(txn, plain, transactional=False)
    lab.joint().produce(plain.leader, None, *batch, version=newest, as_="plain write")
    txn.produce(added, as_="write")
    txn.end(commit=True)


def check(seen: Evidence) -> Observations:
    """Each is refused and not appended; the id's own write is committed. The plain batch is taken, by habit."""
    for write in seen.all("write without id"):
        yield expect.refused(write, REFUSED, otherwise="write-without-id-accepted", code=Level.SHOULD)
    yield expect.habit(expect.accepted(seen["plain write"], otherwise="rightful-write-refused"))
    yield expect.accepted(seen["write"], otherwise="rightful-write-refused")
    for name, alias in (("plain write", "plain"), ("write", "added")):
        accepted = expect.values(seen, name)
        yield from expect.sound(
            seen, alias, accepted, appended="unverified-record-appended", stuck="hanging-transaction"
        )


GOOD = evidence(
    *(refused_write("write without id", version, REFUSED, to="added") for version in (3, 13)),
    written("plain write", 13, "p", to="plain"),
    written("write", 11, "a", to="added"),
    logs={"plain": log(data(7, 0, "p", transactional=False)), "added": log(data(7, 0, "a"), commit(7, 0))},
)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-19",
    source=Source(890, "Ensure Ongoing Transaction for Older Clients (3)"),
    statement="A transactional batch without transactional id is refused, not appended.",
    needs=(Offers("Produce", 3),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("write-without-id-accepted", GOOD.with_step("write without id", error=0)),
        Refusal("wrong-error", GOOD.with_step("write without id", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step("write without id", error=None)),
        Refusal(
            "rightful-write-refused",
            GOOD.with_step("plain write", error=REFUSED).with_log("plain", batches=(), committed=()),
        ),
        Refusal(
            "rightful-write-refused",
            GOOD.with_step("write", error=REFUSED).with_log("added", log(commit(7, 0)), committed=()),
        ),
        *unsound(GOOD, "plain", appended="unverified-record-appended", stuck="hanging-transaction"),
        *unsound(GOOD, "added", appended="unverified-record-appended", stuck="hanging-transaction"),
    ),
    refuted_by=(
        Failpoint(rules=NO_BATCH_SEEN_AS_TRANSACTIONAL, anomaly="wrong-error"),
        Failpoint(rules=UNGUARDED, anomaly="write-without-id-accepted"),
        Failpoint(rules=UNGUARDED, anomaly="unverified-record-appended"),
        Liar(api="Produce", instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="rightful-write-refused"),
    ),
)
