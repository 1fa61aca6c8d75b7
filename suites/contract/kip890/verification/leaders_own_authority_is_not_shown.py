"""KIP890-VERIFY-22: that a leader may not verify is no matter of its client, and leaves the write unverified.

From version 4 on AddPartitionsToTxn "will be used server-side only and require CLUSTER authorization" (KIP-890, "Public
Interfaces"). A leader whose principal lacks it gets one error for the whole request. That answer is made at the gate on
the link to the coordinator, since a broker without ClusterAction could not replicate either. That nothing is written
unverified is the KIP's; INVALID_TXN_STATE in place of CLUSTER_AUTHORIZATION_FAILED, which a client would take for its
own, and the message are Kafka's (``AddPartitionsToTxnManager``).
"""

from harness.base.json_value import Json
from harness.contract import (
    Access,
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
from harness.contract.byteman.verification_rules import coordinator_error_is_a_yes
from harness.contract.doctored import commit, data, ended, evidence, gate, log, refused_write, strike, unsound, written
from harness.contract.refuters import Failpoint, Liar
from harness.contract.version_tables import UNADDED_MESSAGE
from harness.lab import Lab

STATE, OWN = KafkaError.INVALID_TXN_STATE, KafkaError.CLUSTER_AUTHORIZATION_FAILED
LACKING: dict[str, Json] = {"error_code": OWN.value, "results_by_transaction": []}


def stimulus(lab: Lab) -> None:
    """A first write whose verification or add is answered with the leader's own lack; then it is repeated."""
    for version in lab.offered("Produce", (9, 11, 12, 13)):
        case = f"P{version}"
        txn = lab.producer(protocol=1 if version < 12 else 2)
        partition = lab.partition(case, leader=lab.another_broker(txn.coordinator))
        if version < 12:
            txn.add(partition)
        link = lab.link(partition.leader, txn.coordinator)
        with lab.gate(link, api="AddPartitionsToTxn", action="rewrite", name=case, fields=LACKING):
            txn.produce(partition, as_=f"write {case}", version=version, retry=())
        txn.produce(partition, as_=f"again {case}", version=version)
        txn.end(commit=True, as_=f"end {case}")


def check(seen: Evidence) -> Observations:
    """Refused without the leader's own error and without a trace; the repeated write is taken and committed."""
    for case in seen.logs:
        write, again = seen[f"write {case}"], seen[f"again {case}"]
        expect.gated(seen, case)
        yield expect.refused(write, STATE, otherwise="unverified-write-accepted", code=Level.SHOULD)
        if write.error == STATE:
            yield expect.habit(expect.explained(write, UNADDED_MESSAGE))
        for mended in (again, seen[f"end {case}"]):
            yield expect.accepted(mended, otherwise="refused-after-mending")
        yield from expect.sound(
            seen, case, again.written(), appended="unverified-record-appended", shown="commit-not-shown"
        )


GOOD = evidence(
    refused_write("write P9", 9, STATE, "lost", error_message=UNADDED_MESSAGE, to="P9"),
    written("again P9", 9, "a", to="P9"),
    ended("end P9", version=4),
    logs={"P9": log(data(7, 0, "a"), commit(7, 0))},
    faults=(gate("P9", "rewrite", strike("AddPartitionsToTxn", 5)),),
)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-22",
    source=Source(890, "Public Interfaces (CLUSTER authorization)"),
    statement="A leader that may not verify refuses the write, and does not show the client its own lack of authority.",
    needs=(Offers("Produce", 9),),
    order=Order.HOLDS_LINKS,
    access=(Access.BROKERS, Access.LINKS),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unverified-write-accepted", GOOD.with_step("write P9", error=0)),
        Refusal("wrong-error", GOOD.with_step("write P9", error=OWN)),
        Refusal("unanswered", GOOD.with_step("write P9", error=None)),
        Refusal("no-message", GOOD.with_step("write P9", error_message=None)),
        Refusal("wrong-message", GOOD.with_step("write P9", error_message="another text")),
        Refusal("refused-after-mending", GOOD.with_step("again P9", error=STATE)),
        Refusal("refused-after-mending", GOOD.with_step("end P9", error=STATE)),
        *unsound(GOOD, "P9", appended="unverified-record-appended", shown="commit-not-shown"),
    ),
    refuted_by=(
        Failpoint(rules=coordinator_error_is_a_yes("INVALID_TXN_STATE"), anomaly="unverified-write-accepted"),
        Failpoint(rules=coordinator_error_is_a_yes("INVALID_TXN_STATE"), anomaly="unverified-record-appended"),
        Liar(api="Produce", instead_of=STATE, error=OWN, anomaly="wrong-error"),
        Liar(api="Produce", instead_of=STATE, fields={"error_message": None}, anomaly="no-message"),
        Liar(api="Produce", instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="refused-after-mending"),
    ),
)
