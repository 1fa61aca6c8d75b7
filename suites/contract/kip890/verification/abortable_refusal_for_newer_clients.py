"""KIP890-VERIFY-02: a client that knows the abortable error is told with it that its partition was not added.

INVALID_TXN_STATE is fatal for a client; TRANSACTION_ABORTABLE, which Produce speaks from version 11 on, lets it abort
and go on. The KIP calls it ABORTABLE_ERROR.
"""

from collections.abc import Iterator

from harness.contract import (
    Failpoint,
    Level,
    Observation,
    Offers,
    Refusal,
    Requirement,
    Setting,
    Source,
    agree,
    refused,
)
from harness.contract.byteman.verification_rules import CLIENT_WITHOUT_ABORTABLE_ERROR
from harness.contract.doctored import data, evidence, log, sample, step
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """An initialised producer writes without AddPartitionsToTxn, in the first version that knows the error."""
    partition = lab.partition("P1")
    lab.producer("victim").produce(partition, as_="unadded write", version=11)
    lab.sample("after", partition)


def check(seen: Evidence) -> Iterator[Observation]:
    """Refused with 120, without a message of its own, and nothing is appended."""
    write = seen["unadded write"]
    yield refused(write, 120, otherwise="unadded-write-accepted")
    told = write.fields.get("error_message")
    yield agree("error message", told, None, write, otherwise="wrong-message")
    yield agree("values in the log", seen.log().values(), (), write, otherwise="unadded-record-appended")
    after = seen.sample("after")
    yield agree("last stable offset", after.last_stable_offset, after.high_watermark, otherwise="hanging-transaction")


GOOD = evidence(
    step("unadded write", "Produce", 11, error=120, error_message=None),
    logs={"P1": log()},
    samples=(sample("after", "P1", 0, 0),),
)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-02",
    level=Level.MUST,
    source=Source(890, "Public Interfaces (ABORTABLE_ERROR)"),
    statement="To clients that know it, the refusal of a partition not added is told with the abortable error.",
    needs=(Offers("Produce", 11),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unadded-write-accepted", GOOD.with_step("unadded write", error=0)),
        Refusal("wrong-error", GOOD.with_step("unadded write", error=48)),
        Refusal("unanswered", GOOD.with_step("unadded write", error=None)),
        Refusal("wrong-message", GOOD.with_step("unadded write", error_message="not added")),
        Refusal("unadded-record-appended", GOOD.with_log("P1", log(data(7, 0, "a")))),
        Refusal("hanging-transaction", GOOD.with_sample("after", high_watermark=1)),
    ),
    refuted_by=(
        Setting(key="transaction.partition.verification.enable", value="false", anomaly="unadded-write-accepted"),
        Failpoint(rules=CLIENT_WITHOUT_ABORTABLE_ERROR, anomaly="wrong-error"),
    ),
)
