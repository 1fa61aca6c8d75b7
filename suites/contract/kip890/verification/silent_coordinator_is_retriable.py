"""KIP890-VERIFY-12: when the coordinator cannot be reached to verify a write, the client gets an error it can retry.

The verification is held on the link from leader to coordinator until the link is cut: for the leader a lost connection
is the same as the coordinator's silence for a whole request timeout (30 s), and it comes at once. That nothing is
written unverified, and that trouble with coordinators is no fatal error, are the KIP's; it does not name this case, so
the code and its message are Kafka's, which answers it as the others since 3.7.1 and 3.8 (KAFKA-16386).
"""

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
from harness.contract.byteman.verification_rules import LOST_COORDINATOR_IS_INVALID_STATE
from harness.contract.doctored import commit, data, ended, evidence, log, refused_write, sample, unsound, written
from harness.contract.refuters import VERIFICATION, Failpoint, Liar, Release, Setting
from harness.contract.version_tables import unverified_message
from harness.lab import Lab

RETRIABLE = KafkaError.NOT_ENOUGH_REPLICAS
MESSAGE = unverified_message(KafkaError.NETWORK_EXCEPTION)
ALLOWED = tuple(error for error in KafkaError if error.retriable)
APPENDED, HIDDEN, HANGING = "unverified-record-appended", "committed-view-differs", "hanging-transaction"


def stimulus(lab: Lab) -> None:
    """The verification of an added partition's first write is held on its link, and then the link is cut."""
    txn, partition = lab.producer("victim"), lab.partition("P1")
    link = lab.link(partition.leader, txn.coordinator)
    for version in lab.offered("Produce", (9, 11)):
        txn.add(partition)
        with lab.hold(link, name=f"verification v{version}"):
            waiting = txn.start_produce(partition, version=version)
            lab.sample(f"waiting v{version}", partition)
            with lab.cut(link, name=f"cut v{version}"):
                waiting.answer(as_="unverified write")
        txn.produce(partition, as_="write again", version=version)
        txn.end(commit=True, as_="end")


def check(seen: Evidence) -> Observations:
    """Refused as retriable with the reason when the link is cut, nothing appended; mended, the write is committed."""
    for write in seen.all("unverified write"):
        yield expect.refused(write, RETRIABLE, otherwise="unverified-write-accepted", also=ALLOWED)
        yield expect.stable(seen.sample(f"waiting v{write.version}"), write, otherwise="appended-before-verified")
        if write.error == RETRIABLE:
            expect.interrupted(seen, write, by=f"cut v{write.version}")
            yield expect.habit(expect.explained(write, MESSAGE))
    again = seen.all("write again")
    for mended in (*again, *seen.all("end")):
        yield expect.accepted(mended, otherwise="retry-refused")
    values = [value for write in again for value in write.written()]
    yield from expect.sound(seen, "P1", values, appended=APPENDED, shown=HIDDEN, stuck=HANGING)


GOOD = evidence(
    refused_write("unverified write", 9, RETRIABLE, error_message=MESSAGE),
    written("write again", 9, "a"),
    ended(version=4),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0))},
    cut=("cut v9",),
    samples=(sample("waiting v9", "P1", 0, 0),),
)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-12",
    source=Source(890, "Old Clients / Produce Requests (NOT_ENOUGH_REPLICAS)"),
    statement="A write that cannot be verified because the coordinator is out of reach gets a retriable error.",
    needs=(Offers("Produce", 9),),
    order=Order.HOLDS_LINKS,
    access=(Access.LINKS,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unverified-write-accepted", GOOD.with_step("unverified write", error=0, answered=5)),
        Refusal("wrong-error", GOOD.with_step("unverified write", error=KafkaError.NETWORK_EXCEPTION)),
        Refusal("wrong-error", GOOD.with_step("unverified write", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("appended-before-verified", GOOD.with_sample("waiting v9", high_watermark=1)),
        Refusal("no-message", GOOD.with_step("unverified write", error_message=None)),
        Refusal("wrong-message", GOOD.with_step("unverified write", error_message="another text")),
        Refusal("unanswered", GOOD.with_step("unverified write", error=None, answered=None)),
        Refusal("retry-refused", GOOD.with_step("write again", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("retry-refused", GOOD.with_step("end", error=KafkaError.INVALID_TXN_STATE)),
        *unsound(GOOD, appended=APPENDED, shown=HIDDEN, stuck=HANGING),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="unverified-write-accepted"),
        Release(version="3.6.2", anomaly="wrong-error"),
        Setting(key=VERIFICATION, value="false", anomaly="unverified-write-accepted"),
        Failpoint(rules=LOST_COORDINATOR_IS_INVALID_STATE, anomaly="wrong-error"),
        Liar(api="Fetch", shift={"high_watermark": 1}, at_most=1, anomaly="appended-before-verified"),
    ),
)
