"""KIP890-VERIFY-02: a client that knows the abortable error gets it for a partition that was not added.

INVALID_TXN_STATE is fatal for a client; TRANSACTION_ABORTABLE, which Produce speaks from version 11 on, lets it abort
and go on. That the write is refused is the KIP's; its ABORTABLE_ERROR "can be returned", to clients of the version that
adds partitions by itself, so that version 11 has it, and without a message, is Kafka's.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.verification_rules import CLIENT_WITHOUT_ABORTABLE_ERROR
from harness.contract.doctored import evidence, log, refused_write, sample, unsound
from harness.contract.refuters import VERIFICATION, Failpoint, Setting
from harness.contract.version_tables import unadded_by_kip
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """An initialised producer writes without AddPartitionsToTxn, in the first version that knows the error."""
    partition = lab.partition("P1")
    lab.producer("victim").produce(partition, as_="unadded write", version=11)
    lab.sample("after", partition)


def check(seen: Evidence) -> Observations:
    """Refused as abortable, without a message, and nothing is appended."""
    write, abortable = seen["unadded write"], KafkaError.TRANSACTION_ABORTABLE
    yield expect.refused(write, abortable, otherwise="unadded-write-accepted", also=unadded_by_kip(write.version))
    yield expect.habit(expect.shows(write, error_message=None, otherwise="wrong-message"))
    yield from expect.sound(seen, "P1", (), appended="unadded-record-appended", stuck="hanging-transaction")
    yield expect.stable(seen.sample("after"), otherwise="hanging-transaction")


GOOD = evidence(
    refused_write("unadded write", 11, KafkaError.TRANSACTION_ABORTABLE),
    logs={"P1": log()},
    samples=(sample("after", "P1", 0, 0),),
)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-02",
    source=Source(890, "Public Interfaces (ABORTABLE_ERROR)"),
    statement="To clients that know it, the refusal of a partition not added is told with the abortable error.",
    needs=(Offers("Produce", 11),),
    order=Order.ALONE,  # verifications of others beside it change the code (KIP890-VERIFY-17)
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unadded-write-accepted", GOOD.with_step("unadded write", error=0)),
        Refusal("wrong-error", GOOD.with_step("unadded write", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("unanswered", GOOD.with_step("unadded write", error=None)),
        Refusal("wrong-message", GOOD.with_step("unadded write", error_message="not added")),
        *unsound(GOOD, "P1", appended="unadded-record-appended", stuck="hanging-transaction"),
        Refusal("hanging-transaction", GOOD.with_sample("after", high_watermark=1)),
    ),
    refuted_by=(
        Setting(key=VERIFICATION, value="false", anomaly="unadded-write-accepted"),
        Failpoint(rules=CLIENT_WITHOUT_ABORTABLE_ERROR, anomaly="wrong-error"),
    ),
)
