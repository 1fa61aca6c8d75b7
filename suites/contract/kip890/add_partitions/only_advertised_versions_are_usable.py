"""KIP890-ATX-14: AddPartitionsToTxn is usable at the versions that a broker advertises, and at no other.

Leaders learn from it whether a coordinator can verify ("Attempting to send verifications to older brokers will be a
no-op"): were a version that is not advertised taken, or one that is not answered, a rolling upgrade would verify
nothing, or stop writing. 3.5 has version 4 in its schema and does not advertise it yet (``latestVersionUnstable``).
Kafka ends the connection of who sends it; another broker may answer UNSUPPORTED_VERSION.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.adding_rules import NEWEST_VERSION_REFUSED, UNSTABLE_VERSIONS_TAKEN
from harness.contract.doctored import commit, data, described, evidence, joint_add, log, step, unsound, written
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab
from harness.lab.powers.joint_requests import part

API = "AddPartitionsToTxn"
CLOSED = "closed"


def stimulus(lab: Lab) -> None:
    """The partition of an open transaction is added again at every version, and at the first that is not offered."""
    txn, partition = lab.producer(), lab.partition("P1")
    offered = lab.offered(API, range(100))
    txn.add(partition)
    for version in offered:
        lab.joint().add(txn.coordinator, {"A": part(txn, partition)}, version=version, as_="advertised")
    beside = part(txn, lab.partition("P2"))
    lab.joint().add_unoffered(txn.coordinator, beside, version=offered[-1] + 1, as_="unadvertised")
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
    txn.produce(partition, as_="write")
    txn.end(commit=True)


def check(seen: Evidence) -> Observations:
    """Every advertised version is served; the next one is not, and does nothing."""
    for asked in seen.all("advertised"):
        yield expect.accepted(asked.of("A").at("P1"), otherwise="advertised-version-refused")
    unadvertised = seen["unadvertised"]
    yield expect.unless(
        unusable(unadvertised), f"v{unadvertised.version} is not usable", unadvertised, otherwise="unadvertised-usable"
    )
    yield expect.keeps(seen["kept"], state="Ongoing", partitions=("P1",), otherwise="partition-added")
    yield from expect.sound(seen, "P1", seen["write"].written())


def unusable(step: Step) -> bool:
    """Whether the connection was ended, or the version named as not supported."""
    ended = step.error is None and CLOSED in str(step.fields.get("failure"))
    return ended or step.error == KafkaError.UNSUPPORTED_VERSION


GOOD = evidence(
    *(joint_add("advertised", version, A={"P1": 0}) for version in (0, 3)),
    step("unadvertised", API, 4, error=None, answered=None, failure="AddPartitionsToTxn v4 to node 1: closed"),
    described("kept", "Ongoing", partitions=("P1",)),
    written("write", 9, "a"),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0))},
)

REQUIREMENT = Requirement(
    id="KIP890-ATX-14",
    source=Source(890, "Compatibility, Deprecation, and Migration Plan, Old Servers"),
    statement="Every advertised version of AddPartitionsToTxn is served, and the first one above them is not usable.",
    needs=(Offers(API, 0),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD, GOOD.with_step("unadvertised", error=KafkaError.UNSUPPORTED_VERSION)),
    refuses=(
        Refusal("advertised-version-refused", GOOD.with_step("advertised", transactions={})),
        Refusal("unadvertised-usable", GOOD.with_step("unadvertised", error=0)),
        Refusal("unadvertised-usable", GOOD.with_step("unadvertised", failure="no answer within 10 s")),
        Refusal("partition-added", GOOD.with_step("kept", partitions=["P1", "P2"])),
        *unsound(GOOD),
    ),
    refuted_by=(
        Failpoint(rules=UNSTABLE_VERSIONS_TAKEN, anomaly="unadvertised-usable", version="3.5.2"),
        Failpoint(rules=UNSTABLE_VERSIONS_TAKEN, anomaly="partition-added", version="3.5.2"),
        Failpoint(rules=NEWEST_VERSION_REFUSED, anomaly="advertised-version-refused"),
    ),
)
