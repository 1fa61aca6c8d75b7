"""KIP890-TOC-06: the answer to TxnOffsetCommit has no room for a message, so each partition's code alone must tell why.

Two partitions in one request, at every version. Up to version 4 the group was not added to the transaction, which is
INVALID_TXN_STATE or, for those that know it, TRANSACTION_ABORTABLE; version 5 adds it, so that there another producer's
id is what is refused. The KIP weighed UNKNOWN_MEMBER_ID for old clients and rejected it as not clear without a message.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.group_rules import REFUSED_OFFSETS_ARE_AN_UNKNOWN_ERROR, REFUSED_OFFSETS_ARE_NOT_NAMED
from harness.contract.byteman.verification_rules import EVERY_PARTITION_VERIFIED
from harness.contract.doctored import evidence, step
from harness.contract.refuters import Failpoint, Release, Unrefuted
from harness.contract.version_tables import unadded_offset
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab

UNMAPPED = KafkaError.INVALID_PRODUCER_ID_MAPPING
WRONG_STATE = KafkaError.INVALID_TXN_STATE


def stimulus(lab: Lab) -> None:
    """At each version a commit that must be refused."""
    txn, other = lab.producer("victim"), lab.producer("rival")
    first, second, group = lab.partition("P1"), lab.partition("P2"), lab.group()
    for version in lab.offered("TxnOffsetCommit", range(6)):
        foreign = other.producer_id if version >= 5 else None
        txn.commit_offset(group, first, 1, also=(second,), version=version, producer_id=foreign, as_="refused")


def check(seen: Evidence) -> Observations:
    """A code of its own for each partition, and no message."""
    for commit in seen.all("refused"):
        code = _code(commit.version)
        yield expect.refused(commit, code, also=(WRONG_STATE,), otherwise="offset-accepted")
        named = commit.fields.get("partitions")
        told = {"P1": commit.error, "P2": commit.error}
        yield expect.agree("codes by partition", named, told, commit, otherwise="partition-without-code")
        message = commit.fields.get("error_message")
        yield expect.agree("message", message, None, commit, otherwise="message-where-none-fits")


def _code(version: int) -> KafkaError:
    return UNMAPPED if version >= 5 else unadded_offset(version)


def _refused(version: int) -> Step:
    code = _code(version)
    return step("refused", "TxnOffsetCommit", version, error=code, partitions={"P1": code, "P2": code})


GOOD = evidence(*map(_refused, (0, 3, 4, 5)))

REQUIREMENT = Requirement(
    id="KIP890-TOC-06",
    source=Source(890, "Old Clients / TxnOffsetCommit Requests"),
    statement="A refused offset commit tells why by the code of each partition, without a message.",
    needs=(Offers("TxnOffsetCommit", 3),),
    order=Order.ALONE,
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("offset-accepted", GOOD.with_step("refused", error=0, partitions={"P1": 0, "P2": 0})),
        Refusal("wrong-error", GOOD.with_step("refused", error=-1, partitions={"P1": -1, "P2": -1})),
        Refusal("partition-without-code", GOOD.with_step("refused", partitions={})),
        Refusal("message-where-none-fits", GOOD.with_step("refused", error_message="not added")),
    ),
    refuted_by=(
        Release(version="3.6.2", anomaly="offset-accepted"),
        Failpoint(rules=EVERY_PARTITION_VERIFIED, anomaly="offset-accepted"),
        Failpoint(rules=REFUSED_OFFSETS_ARE_AN_UNKNOWN_ERROR, anomaly="wrong-error"),
        Failpoint(rules=REFUSED_OFFSETS_ARE_NOT_NAMED, anomaly="partition-without-code"),
        Unrefuted(
            anomaly="message-where-none-fits",
            reason="TxnOffsetCommit's answer has no field for a message in any version, so no broker can send one",
        ),
    ),
)
