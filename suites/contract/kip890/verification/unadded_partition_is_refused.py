"""KIP890-VERIFY-01: a write to a partition that its transaction never added must not enter the log.

Nobody would ever end such a write: no marker is due for a partition that the coordinator does not know, so readers of
committed records would stand still before it for ever. Every version that an older client speaks is tried.
"""

from collections.abc import Iterator

from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Refusal,
    Release,
    Requirement,
    Setting,
    Source,
    agree,
    refused,
    row,
)
from harness.contract.byteman.verification_rules import EVERY_PARTITION_VERIFIED
from harness.contract.doctored import data, evidence, log, sample, step
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab

VERSIONS = range(3, 11)
MESSAGE = "Partition was not added to the transaction"
FIRST_WITH_MESSAGE = 8


def stimulus(lab: Lab) -> None:
    """An initialised producer writes without AddPartitionsToTxn."""
    partition = lab.partition("P1")
    txn = lab.producer("victim")
    for version in lab.offered("Produce", VERSIONS):
        txn.produce(partition, as_="unadded write", version=version)
    lab.sample("after", partition)
    lab.observer.producers(partition, as_="producers")


def check(seen: Evidence) -> Iterator[Observation]:
    """Each write is refused with 48, and the leader knows of no transaction."""
    for write in seen.all("unadded write"):
        told = MESSAGE if write.version >= FIRST_WITH_MESSAGE else None
        yield refused(write, 48, otherwise="unadded-write-accepted", message=told)
    yield agree("values in the log", seen.log().values(), (), otherwise="unadded-record-appended")
    after = seen.sample("after")
    yield agree("last stable offset", after.last_stable_offset, after.high_watermark, otherwise="hanging-transaction")
    opened = row(seen["producers"], "producers", producer_id=write.request["producer_id"])
    start = opened.get("current_txn_start_offset", -1)
    yield agree("start of an open transaction", start, -1, seen["producers"], otherwise="transaction-opened")


GOOD = evidence(
    step("unadded write", "Produce", 3, error=48, request={"producer_id": 7}),
    step("unadded write", "Produce", 10, error=48, error_message=MESSAGE, request={"producer_id": 7}),
    step("producers", "DescribeProducers", 0, producers=[]),
    logs={"P1": log()},
    samples=(sample("after", "P1", 0, 0),),
)
OPEN = {"producer_id": 7, "current_txn_start_offset": 0}

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-01",
    level=Level.MUST,
    source=Source(890, "Ensure Ongoing Transaction for Older Clients (3)"),
    statement="A transactional write to a partition that was not added to the transaction is refused, not appended.",
    needs=(Offers("Produce", 9),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unadded-write-accepted", GOOD.with_step("unadded write", error=0)),
        Refusal("wrong-error", GOOD.with_step("unadded write", error=120)),
        Refusal("wrong-message", GOOD.with_step("unadded write", error_message=None)),
        Refusal("unanswered", GOOD.with_step("unadded write", error=None)),
        Refusal("unadded-record-appended", GOOD.with_log("P1", log(data(7, 0, "a")))),
        Refusal("hanging-transaction", GOOD.with_sample("after", high_watermark=1)),
        Refusal("transaction-opened", GOOD.with_step("producers", producers=[OPEN])),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="unadded-write-accepted"),
        Setting(key="transaction.partition.verification.enable", value="false", anomaly="hanging-transaction"),
        Failpoint(rules=EVERY_PARTITION_VERIFIED, anomaly="unadded-write-accepted"),
    ),
)
