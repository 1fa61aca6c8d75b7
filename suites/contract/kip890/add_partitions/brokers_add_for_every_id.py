"""KIP890-ATX-03: from version 4 on ClusterAction is enough; permissions on ids and topics are not asked for.

A leader adds for its clients, having checked them at their Produce, under ids and for topics that are not its own. That
these versions have CLUSTER authorization is the KIP's.
"""

from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.adding_rules import EVERY_ADD_ANSWERED_YES
from harness.contract.byteman.authorizer_rules import NO_CLUSTER_ACTION
from harness.contract.doctored import commit, data, described, ended, evidence, joint_add, log, unsound, written
from harness.contract.refuters import Failpoint
from harness.lab import Lab
from harness.lab.powers.joint_requests import part
from harness.lab.powers.users import AclOperation, on_cluster
from harness.lab.step_recorder import RETRIABLE
from suites.contract.wishes import ALICE, USERS


def stimulus(lab: Lab) -> None:
    """A user with nothing but ClusterAction adds and verifies for another's id; its owner writes and commits."""
    partition = lab.partition("P1")
    for version in lab.offered("AddPartitionsToTxn", (4, 5)):
        txn = lab.producer()
        with lab.grant(ALICE, on_cluster(AclOperation.CLUSTER_ACTION)):
            for name, verify_only in (("add", False), ("verification", True)):
                asked = {"A": part(txn, partition, verify_only=verify_only)}
                joint = lab.joint(user=ALICE)
                joint.add(txn.coordinator, asked, version=version, as_=name, retry=RETRIABLE)
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
        txn.produce(partition, as_="write")
        txn.end(commit=True, as_="end")


def check(seen: Evidence) -> Observations:
    """Added and verified, and the owner's own transaction."""
    for asked in (*seen.all("add"), *seen.all("verification")):
        yield expect.accepted(asked.of("A").at("P1"), otherwise="broker-refused")
    for kept in seen.all("kept"):
        yield expect.keeps(kept, state="Ongoing", partitions=("P1",), otherwise="partition-not-added")
    for own in (*seen.all("write"), *seen.all("end")):
        yield expect.accepted(own, otherwise="owner-refused")
    yield from expect.sound(seen, "P1", [value for write in seen.all("write") for value in write.written()])


GOOD = evidence(
    joint_add("add", 4, A={"P1": 0}),
    joint_add("verification", 4, A={"P1": 0}),
    described("kept", "Ongoing", partitions=("P1",)),
    written("write", 11, "a"),
    ended(version=4),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0))},
)
REFUSED = joint_add("", 4, A={"P1": KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED}).fields

REQUIREMENT = Requirement(
    id="KIP890-ATX-03",
    source=Source(890, "Public Interfaces"),
    statement="AddPartitionsToTxn of version 4 and above asks for no permission on transactional ids and topics.",
    needs=(Offers("AddPartitionsToTxn", 4),),
    cluster=USERS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("broker-refused", GOOD.with_step("add", **REFUSED)),
        Refusal("broker-refused", GOOD.with_step("verification", **REFUSED)),
        Refusal("partition-not-added", GOOD.with_step("kept", state="Empty", partitions=[])),
        Refusal("owner-refused", GOOD.with_step("write", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("owner-refused", GOOD.with_step("end", error=KafkaError.INVALID_TXN_STATE)),
        *unsound(GOOD),
    ),
    refuted_by=(
        Failpoint(rules=NO_CLUSTER_ACTION, anomaly="broker-refused"),
        Failpoint(rules=EVERY_ADD_ANSWERED_YES, anomaly="partition-not-added"),
        Failpoint(rules=EVERY_ADD_ANSWERED_YES, anomaly="owner-refused"),
    ),
)
