"""KIP890-VERIFY-13, -14: a coordinator that is loading, or is one no more, makes the write retriable and nothing else.

Its answer to the leader is rewritten on the way, at the gate on the link between them: each partition's error becomes
COORDINATOR_LOAD_IN_PROGRESS (-13) or NOT_COORDINATOR (-14), as a coordinator answers in the milliseconds in which it is
so. Both errors and NOT_ENOUGH_REPLICAS in their place "with a specific error message for debugging" are the KIP's; the
words are Kafka's. A write that was refused so is repeated by its client, and then must be taken.
"""

from functools import partial

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.verification_rules import coordinator_error_is_a_yes, coordinator_error_is_invalid_state
from harness.contract.doctored import (
    commit,
    data,
    ended,
    evidence,
    gate,
    log,
    refused_write,
    sample,
    strike,
    unsound,
    written,
)
from harness.contract.refuters import Failpoint, Liar
from harness.contract.version_tables import unverified_message
from harness.lab import Lab

RETRIABLE = KafkaError.NOT_ENOUGH_REPLICAS
ALLOWED = tuple(error for error in KafkaError if error.retriable)


def stimulus(lab: Lab, trouble: KafkaError) -> None:
    """A first write whose verification is answered with the trouble; then it is repeated and committed."""
    for version in lab.offered("Produce", (9, 11)):
        case = f"P{version}"
        txn = lab.producer("victim")
        partition = lab.partition(case, leader=lab.another_broker(txn.coordinator))
        txn.add(partition)
        link = lab.link(partition.leader, txn.coordinator)
        with lab.gate(link, api="AddPartitionsToTxn", action="rewrite", name=case, error=trouble):
            txn.produce(partition, as_=f"write {case}", version=version, retry=())
        lab.sample(f"refused {case}", partition)
        txn.produce(partition, as_=f"again {case}", version=version)
        txn.end(commit=True, as_=f"end {case}")


def check(seen: Evidence, trouble: KafkaError) -> Observations:
    """Refused as retriable with the reason, nothing appended; the repeated write is taken and committed."""
    for case in seen.logs:
        write, again = seen[f"write {case}"], seen[f"again {case}"]
        expect.gated(seen, case)
        yield expect.refused(write, RETRIABLE, otherwise="unverified-write-accepted", also=ALLOWED)
        if write.error == RETRIABLE:
            yield expect.habit(expect.explained(write, unverified_message(trouble)))
        sampled = seen.sample(f"refused {case}")
        yield expect.agree("high watermark", sampled.high_watermark, 0, write, otherwise="unverified-record-appended")
        for mended in (again, seen[f"end {case}"]):
            yield expect.accepted(mended, otherwise="retry-refused")
        yield from expect.sound(
            seen, case, again.written(), appended="record-lost-or-doubled", shown="commit-not-shown"
        )


def requirement(id_: str, trouble: KafkaError, state: str) -> Requirement[Lab]:
    """For one trouble of the coordinator."""
    message = unverified_message(trouble)
    good = evidence(
        refused_write("write P9", 9, RETRIABLE, "a", error_message=message, to="P9"),
        written("again P9", 9, "a", to="P9"),
        ended("end P9", version=4),
        logs={"P9": log(data(7, 0, "a"), commit(7, 0))},
        faults=(gate("P9", "rewrite", strike("AddPartitionsToTxn", 5)),),
        samples=(sample("refused P9", "P9", 0, 0),),
    )
    return Requirement(
        id=id_,
        source=Source(890, f"Old Clients / Produce Requests ({trouble.name})"),
        statement=f"A write whose coordinator {state} is refused with a retriable error.",
        needs=(Offers("Produce", 9),),
        order=Order.HOLDS_LINKS,
        access=(Access.BROKERS, Access.LINKS),
        stimulus=partial(stimulus, trouble=trouble),
        check=partial(check, trouble=trouble),
        accepts=(good,),
        refuses=(
            Refusal("unverified-write-accepted", good.with_step("write P9", error=0)),
            Refusal("wrong-error", good.with_step("write P9", error=KafkaError.INVALID_TXN_STATE)),
            Refusal("wrong-error", good.with_step("write P9", error=trouble)),
            Refusal("unanswered", good.with_step("write P9", error=None)),
            Refusal("no-message", good.with_step("write P9", error_message=None)),
            Refusal("wrong-message", good.with_step("write P9", error_message="another text")),
            Refusal("unverified-record-appended", good.with_sample("refused P9", high_watermark=1)),
            Refusal("retry-refused", good.with_step("again P9", error=RETRIABLE)),
            Refusal("retry-refused", good.with_step("end P9", error=KafkaError.INVALID_TXN_STATE)),
            *unsound(good, "P9", appended="record-lost-or-doubled", shown="commit-not-shown"),
        ),
        refuted_by=(
            Failpoint(rules=coordinator_error_is_a_yes(trouble.name), anomaly="unverified-write-accepted"),
            Failpoint(rules=coordinator_error_is_a_yes(trouble.name), anomaly="unverified-record-appended"),
            Failpoint(rules=coordinator_error_is_invalid_state(trouble.name), anomaly="wrong-error"),
            Liar(api="Produce", instead_of=RETRIABLE, fields={"error_message": None}, anomaly="no-message"),
            Liar(api="Produce", instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="retry-refused"),
            Failpoint(rules=coordinator_error_is_a_yes(trouble.name), anomaly="record-lost-or-doubled"),
        ),
    )


REQUIREMENTS = (
    requirement("KIP890-VERIFY-13", KafkaError.COORDINATOR_LOAD_IN_PROGRESS, "is loading"),
    requirement("KIP890-VERIFY-14", KafkaError.NOT_COORDINATOR, "has moved"),
)
