"""KIP890-VERIFY-03: a write under a transactional id that the coordinator does not know must not enter the log.

Such an id never asked for a producer id, or was forgotten long ago: nobody could end its transaction. The refusal is
the KIP's, which names two codes that fit: INVALID_PRODUCER_ID_MAPPING, Kafka's, and INVALID_TXN_STATE where there is no
such transaction. That from version 10 on the refusal has no message is Kafka's.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.verification_rules import UNKNOWN_ID_VERIFIED
from harness.contract.doctored import evidence, log, refused_write, sample, unsound
from harness.contract.refuters import VERIFICATION, Failpoint, Release, Setting
from harness.contract.version_tables import unadded_by_kip
from harness.lab import Lab

UNKNOWN = KafkaError.INVALID_PRODUCER_ID_MAPPING
INVENTED = 8_000_000_000_001
"""A producer id that no coordinator has handed out."""


def stimulus(lab: Lab) -> None:
    """A client that never asked for a producer id writes with an invented one."""
    partition = lab.partition("P1")
    stranger = lab.producer("victim", init=False)
    for version in lab.offered("Produce", (9, 11)):
        stranger.produce(partition, as_="stranger's write", version=version, producer_id=INVENTED, epoch=0)
    lab.sample("after", partition)


def check(seen: Evidence) -> Observations:
    """Each write is refused as not mapped in every version, and nothing is appended."""
    for write in seen.all("stranger's write"):
        yield expect.refused(write, UNKNOWN, otherwise="unknown-id-accepted", also=unadded_by_kip(write.version))
        if write.version >= 10:
            yield expect.habit(expect.shows(write, error_message=None, otherwise="wrong-message"))
    yield from expect.sound(seen, "P1", (), appended="unknown-record-appended", stuck="hanging-transaction")
    yield expect.stable(seen.sample("after"), otherwise="hanging-transaction")


GOOD = evidence(
    *(refused_write("stranger's write", version, UNKNOWN) for version in (9, 11)),
    logs={"P1": log()},
    samples=(sample("after", "P1", 0, 0),),
)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-03",
    source=Source(890, "Old Clients / Produce Requests (INVALID_PRODUCER_ID_MAPPING)"),
    statement="A write under a transactional id that its coordinator does not know is refused, not appended.",
    needs=(Offers("Produce", 9),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unknown-id-accepted", GOOD.with_step("stranger's write", error=0)),
        Refusal("wrong-error", GOOD.with_step("stranger's write", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step("stranger's write", error=None)),
        Refusal("wrong-message", GOOD.with_step("stranger's write", error_message="unknown")),
        *unsound(GOOD, "P1", appended="unknown-record-appended", stuck="hanging-transaction"),
        Refusal("hanging-transaction", GOOD.with_sample("after", high_watermark=1)),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="unknown-id-accepted"),
        Setting(key=VERIFICATION, value="false", anomaly="unknown-id-accepted"),
        Failpoint(rules=UNKNOWN_ID_VERIFIED, anomaly="unknown-record-appended"),
    ),
)
