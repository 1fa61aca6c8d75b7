"""KIP890-VERIFY-01: a write to a partition that its transaction never added must not enter the log.

Nobody would ever end such a write: no marker is due for a partition that the coordinator does not know, so readers of
committed records would stand still before it for ever. Every version that an older client speaks is tried.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.verification_rules import EVERY_PARTITION_VERIFIED
from harness.contract.doctored import evidence, log, producer_row, producers, refused_write, sample, unsound
from harness.contract.refuters import VERIFICATION, Failpoint, Release, Setting
from harness.contract.version_tables import UNADDED_MESSAGE, unadded, unadded_message
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """An initialised producer writes without AddPartitionsToTxn."""
    partition, txn = lab.partition("P1"), lab.producer("victim")
    for version in lab.offered("Produce", range(3, 11)):
        txn.produce(partition, as_="unadded write", version=version)
    lab.sample("after", partition)
    lab.observer.producers(partition, as_="producers")


def check(seen: Evidence) -> Observations:
    """Each write is refused as not added, and the leader knows of no transaction."""
    for write in seen.all("unadded write"):
        message = unadded_message(write.version)
        yield expect.refused(write, unadded(write.version), otherwise="unadded-write-accepted", message=message)
    yield from expect.sound(seen, "P1", (), appended="unadded-record-appended", stuck="hanging-transaction")
    yield expect.stable(seen.sample("after"), otherwise="hanging-transaction")
    yield expect.not_open(seen["producers"], write.request_int("producer_id"))


GOOD = evidence(
    refused_write("unadded write", 3, KafkaError.INVALID_TXN_STATE),
    refused_write("unadded write", 10, KafkaError.INVALID_TXN_STATE, error_message=UNADDED_MESSAGE),
    producers("producers"),
    logs={"P1": log()},
    samples=(sample("after", "P1", 0, 0),),
)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-01",
    source=Source(890, "Ensure Ongoing Transaction for Older Clients (3)"),
    statement="A transactional write to a partition that was not added to the transaction is refused, not appended.",
    needs=(Offers("Produce", 9),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unadded-write-accepted", GOOD.with_step("unadded write", error=0)),
        Refusal("wrong-error", GOOD.with_step("unadded write", error=KafkaError.TRANSACTION_ABORTABLE)),
        Refusal("no-message", GOOD.with_step("unadded write", error_message=None)),
        Refusal("wrong-message", GOOD.with_step("unadded write", error_message="another text")),
        Refusal("unanswered", GOOD.with_step("unadded write", error=None)),
        *unsound(GOOD, "P1", appended="unadded-record-appended", stuck="hanging-transaction"),
        Refusal("hanging-transaction", GOOD.with_sample("after", high_watermark=1)),
        Refusal("transaction-opened", GOOD.with_step("producers", producers=[producer_row(since=0)])),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="unadded-write-accepted"),
        Setting(key=VERIFICATION, value="false", anomaly="hanging-transaction"),
        Failpoint(rules=EVERY_PARTITION_VERIFIED, anomaly="unadded-write-accepted"),
    ),
)
