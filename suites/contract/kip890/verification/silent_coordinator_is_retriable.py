"""KIP890-VERIFY-12: when the coordinator cannot be reached to verify a write, the client gets an error it can retry.

The verification lies on the link from leader to coordinator until the link is cut: for the leader a lost connection is
the same as the coordinator's silence for a whole request timeout (30 s), and it comes at once. The KIP does not name
this case; Kafka answers it as the others since 3.7.1 and 3.8 (KAFKA-16386).
"""

from collections.abc import Iterator

from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Order,
    Refusal,
    Release,
    Requirement,
    Setting,
    Source,
    accepted,
    agree,
    refused,
)
from harness.contract.byteman.verification_rules import LOST_COORDINATOR_IS_INVALID_STATE
from harness.contract.doctored import commit, data, evidence, log, step
from harness.evidence.requirement_evidence import Evidence, Fault, NotSeen
from harness.lab import Lab

VERSIONS = (9, 11)
MESSAGE = "Unable to verify the partition has been added to the transaction. Underlying error: NETWORK_EXCEPTION"


def stimulus(lab: Lab) -> None:
    """The verification of an added partition's first write is held on its link, and then the link is cut."""
    txn, partition = lab.producer("victim"), lab.partition("P1")
    link = lab.link(partition.leader, txn.coordinator)
    for version in lab.offered("Produce", VERSIONS):
        txn.add(partition)
        with lab.hold(link, name=f"verification v{version}"):
            waiting = txn.start_produce(partition, version=version)
            lab.sample(f"waiting v{version}", partition)
            with lab.cut(link, name=f"cut v{version}"):
                waiting.answer(as_="unverified write")
        txn.produce(partition, as_="write again", version=version)
        txn.end(commit=True, as_="end")


def check(seen: Evidence) -> Iterator[Observation]:
    """Refused with 19 and the reason when the link is cut, nothing appended; mended, the write is committed."""
    for write in seen.all("unverified write"):
        yield refused(write, 19, otherwise="unverified-write-accepted", message=MESSAGE)
        waited = write.answered is None or write.answered >= seen.fault(f"cut v{write.version}").started
        if write.error == 19 and not waited:
            raise NotSeen("the write was answered before the link was cut")
    for mended in (*seen.all("write again"), *seen.all("end")):
        yield accepted(mended, otherwise="retry-refused")
    truth = seen.log()
    written = tuple(value for write in seen.all("write again") for value in write.written())
    yield agree("values in the log", truth.values(), written, otherwise="unverified-record-appended")
    yield agree("committed values", truth.committed, written, otherwise="committed-view-differs")
    yield agree("last stable offset", truth.last_stable_offset, truth.high_watermark, otherwise="hanging-transaction")


GOOD = evidence(
    step("unverified write", "Produce", 9, error=19, error_message=MESSAGE, answered=60),
    step("write again", "Produce", 9, request={"values": ["a"]}),
    step("end", "EndTxn", 4),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0))},
    faults=(Fault(name="cut v9", kind="cut", where="link-1-2", started=50, ended=70),),
)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-12",
    level=Level.MUST,
    source=Source(890, "Old Clients / Produce Requests (NOT_ENOUGH_REPLICAS)"),
    statement="A write that cannot be verified because the coordinator is out of reach gets a retriable error.",
    needs=(Offers("Produce", 9),),
    order=Order.HOLDS_LINKS,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unverified-write-accepted", GOOD.with_step("unverified write", error=0, answered=5)),
        Refusal("wrong-error", GOOD.with_step("unverified write", error=13)),
        Refusal("wrong-message", GOOD.with_step("unverified write", error_message=None)),
        Refusal("unanswered", GOOD.with_step("unverified write", error=None, answered=None)),
        Refusal("retry-refused", GOOD.with_step("write again", error=48)),
        Refusal(
            "unverified-record-appended", GOOD.with_log("P1", log(data(7, 0, "x", "a"), commit(7, 0)), committed=("a",))
        ),
        Refusal("committed-view-differs", GOOD.with_log("P1", committed=())),
        Refusal("hanging-transaction", GOOD.with_log("P1", last_stable_offset=0)),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="unverified-write-accepted"),
        Release(version="3.6.2", anomaly="wrong-error"),
        Setting(key="transaction.partition.verification.enable", value="false", anomaly="unverified-write-accepted"),
        Failpoint(rules=LOST_COORDINATOR_IS_INVALID_STATE, anomaly="wrong-error"),
    ),
)
