"""KIP890-VERIFY-15: in one request, the write to an added partition is accepted and the one beside it is refused.

One verification goes out for all partitions of a Produce request; each must get its own answer.
"""

from collections.abc import Iterator

from harness.base.json_value import Json
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
    accepted,
    agree,
    refused,
)
from harness.contract.byteman.verification_rules import NO_PARTITION_VERIFIED
from harness.contract.doctored import commit, data, evidence, log, step
from harness.evidence.requirement_evidence import Evidence
from harness.lab import Lab

VERSIONS = (9, 11)
FIRST_ABORTABLE = 11


def stimulus(lab: Lab) -> None:
    """Two partitions of one leader, of which the transaction adds one; one request writes to both."""
    txn, added = lab.producer("victim"), lab.partition("added")
    beside = lab.partition("beside", leader=added.leader)
    for sequence, version in enumerate(lab.offered("Produce", VERSIONS)):
        txn.add(added)
        txn.produce(added, beside, as_="write to both", version=version, sequence=sequence)
        lab.sample(f"open v{version}", added, beside)
        txn.end(commit=True)


def check(seen: Evidence) -> Iterator[Observation]:
    """0 beside 48 or 120; only the added partition grows, and its records are committed."""
    added, beside = seen.log("added"), seen.log("beside")
    for write in seen.all("write to both"):
        yield accepted(write.at("added"), otherwise="added-write-refused")
        code = 120 if write.version >= FIRST_ABORTABLE else 48
        yield refused(write.at("beside"), code, otherwise="unadded-write-accepted")
        there = [value in added.committed for value in write.written()]
        yield agree("values committed where added", there, [True, False], write, otherwise="added-record-lost")
    yield agree("values beside", beside.values(), (), otherwise="unadded-record-appended")
    end = beside.high_watermark
    yield agree("last stable offset beside", beside.last_stable_offset, end, otherwise="hanging-transaction")


def answers(version: int, added: int | None, beside: int | None) -> Evidence:
    """These answers, and a sound log of both partitions."""
    partitions: dict[str, Json] = {"added": {"error": added}, "beside": {"error": beside}}
    return evidence(
        step("write to both", "Produce", version, request={"values": ["a", "b"]}, partitions=partitions),
        logs={"added": log(data(7, 0, "a"), commit(7, 0)), "beside": log()},
    )


GOOD, NEWER = answers(9, 0, 48), answers(11, 0, 120)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-15",
    level=Level.MUST,
    source=Source(890, "Ensure Ongoing Transaction for Older Clients (3)"),
    statement="Of several partitions in one request, those in the transaction are written and the others are refused.",
    needs=(Offers("Produce", 9),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, NEWER),
    refuses=(
        Refusal("unadded-write-accepted", answers(9, 0, 0)),
        Refusal("added-write-refused", answers(9, 48, 48)),
        Refusal("added-write-refused", answers(11, None, 120)),
        Refusal("wrong-error", answers(9, 0, 120)),
        Refusal("wrong-error", answers(11, 0, 48)),
        Refusal("unanswered", answers(11, 0, None)),
        Refusal("added-record-lost", GOOD.with_log("added", committed=())),
        Refusal("unadded-record-appended", GOOD.with_log("beside", log(data(7, 0, "x"), commit(7, 0)))),
        Refusal("hanging-transaction", GOOD.with_log("beside", high_watermark=1)),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="unadded-write-accepted"),
        Setting(key="transaction.partition.verification.enable", value="false", anomaly="hanging-transaction"),
        Failpoint(rules=NO_PARTITION_VERIFIED, anomaly="added-write-refused"),
    ),
)
