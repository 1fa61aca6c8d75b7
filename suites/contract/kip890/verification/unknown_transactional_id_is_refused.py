"""KIP890-VERIFY-03: a write under a transactional id that the coordinator does not know must not enter the log.

Such an id never asked for a producer id, or was forgotten long ago: nobody could end its transaction.
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
)
from harness.contract.byteman.verification_rules import UNKNOWN_ID_VERIFIED
from harness.contract.doctored import data, evidence, log, sample, step
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab

VERSIONS = (9, 11)
FIRST_WITHOUT_MESSAGE = 10
INVENTED = 8_000_000_000_001


def stimulus(lab: Lab) -> None:
    """A client that never asked for a producer id writes with an invented one."""
    partition = lab.partition("P1")
    stranger = lab.producer("victim", init=False)
    for version in lab.offered("Produce", VERSIONS):
        stranger.produce(partition, as_="stranger's write", version=version, producer_id=INVENTED, epoch=0)
    lab.sample("after", partition)


def check(seen: Evidence) -> Iterator[Observation]:
    """Each write is refused with 49 in both dialects, and nothing is appended."""
    for write in seen.all("stranger's write"):
        yield refused(write, 49, otherwise="unknown-id-accepted")
        if write.version >= FIRST_WITHOUT_MESSAGE:
            told = write.fields.get("error_message")
            yield agree("error message", told, None, write, otherwise="wrong-message")
    yield agree("values in the log", seen.log().values(), (), otherwise="unknown-record-appended")
    after = seen.sample("after")
    yield agree("last stable offset", after.last_stable_offset, after.high_watermark, otherwise="hanging-transaction")


GOOD = evidence(
    step("stranger's write", "Produce", 9, error=49, error_message=None),
    step("stranger's write", "Produce", 11, error=49, error_message=None),
    logs={"P1": log()},
    samples=(sample("after", "P1", 0, 0),),
)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-03",
    level=Level.MUST,
    source=Source(890, "Old Clients / Produce Requests (INVALID_PRODUCER_ID_MAPPING)"),
    statement="A write under a transactional id that its coordinator does not know is refused, not appended.",
    needs=(Offers("Produce", 9),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unknown-id-accepted", GOOD.with_step("stranger's write", error=0)),
        Refusal("wrong-error", GOOD.with_step("stranger's write", error=48)),
        Refusal("unanswered", GOOD.with_step("stranger's write", error=None)),
        Refusal("wrong-message", GOOD.with_step("stranger's write", error_message="unknown")),
        Refusal("unknown-record-appended", GOOD.with_log("P1", log(data(7, 0, "a")))),
        Refusal("hanging-transaction", GOOD.with_sample("after", high_watermark=1)),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="unknown-id-accepted"),
        Setting(key="transaction.partition.verification.enable", value="false", anomaly="unknown-id-accepted"),
        Failpoint(rules=UNKNOWN_ID_VERIFIED, anomaly="unknown-record-appended"),
    ),
)
