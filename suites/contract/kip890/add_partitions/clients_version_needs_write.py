"""KIP890-ATX-02: up to version 3 AddPartitionsToTxn needs Write on the transactional id and on every topic.

The permissions are those of KIP-98, which KIP-890 leaves to clients' versions while it takes them away from brokers'.
Without Write on the id every partition is refused. Without Write on one topic that one is named, and the others are not
added either (OPERATION_NOT_ATTEMPTED, Kafka's).
"""

from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Level,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.authorizer_rules import EVERYTHING_ALLOWED, NO_WRITE_OF_IDS
from harness.contract.doctored import commit, data, described, evidence, joint_add, log, unsound, written
from harness.contract.refuters import Failpoint
from harness.lab import Lab, Partition, Producer
from harness.lab.powers.joint_requests import part
from harness.lab.powers.users import AclOperation, on_id, on_topic
from suites.contract.wishes import ALICE, USERS

ID, TOPIC = KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, KafkaError.TOPIC_AUTHORIZATION_FAILED
SKIPPED = KafkaError.OPERATION_NOT_ATTEMPTED
GRANTED = {
    "nothing granted": {"allowed": ID, "forbidden": ID},
    "id granted": {"allowed": TOPIC, "forbidden": TOPIC},
    "id and a topic granted": {"allowed": SKIPPED, "forbidden": TOPIC},
    "topics granted": {"allowed": ID, "forbidden": ID},
}


def stimulus(lab: Lab) -> None:
    """The same two partitions with more and more granted; then both, and a record in each."""
    txn, allowed, forbidden = lab.producer(), lab.partition("allowed"), lab.partition("forbidden")
    own_id, write = on_id(txn, AclOperation.WRITE), AclOperation.WRITE
    grants = {
        "nothing granted": (),
        "id granted": (own_id,),
        "id and a topic granted": (own_id, on_topic(allowed, write)),
        "topics granted": (on_topic(allowed, write), on_topic(forbidden, write)),
    }
    for name, granted in grants.items():
        with lab.grant(ALICE, *granted):
            added(lab, txn, name, allowed, forbidden)
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
    with lab.grant(ALICE, own_id, on_topic(allowed, write), on_topic(forbidden, write)):
        added(lab, txn, "all granted", allowed, forbidden)
        own = lab.users.acting(ALICE, txn)
        for partition in (allowed, forbidden):
            own.produce(partition, as_="write")
        own.end(commit=True, as_="end")


def added(lab: Lab, txn: Producer, name: str, *partitions: Partition) -> None:
    """The add at every version of clients."""
    for version in lab.offered("AddPartitionsToTxn", range(4)):
        lab.joint(user=ALICE).add(txn.coordinator, {"A": part(txn, *partitions)}, version=version, as_=name)


def check(seen: Evidence) -> Observations:
    """Each add refused by what is missing and nothing added; accepted with everything granted."""
    for name, errors in GRANTED.items():
        for asked in seen.all(name):
            for alias, error in errors.items():
                level = Level.SHOULD if error == SKIPPED else Level.MUST
                answer = asked.of("A").at(alias)
                yield expect.refused(answer, error, otherwise="unauthorized-add-accepted", code=level)
    yield expect.over(seen["kept"], otherwise="partition-added")
    for asked in seen.all("all granted"):
        for alias in ("allowed", "forbidden"):
            yield expect.accepted(asked.of("A").at(alias), otherwise="authorized-add-refused")
    yield expect.accepted(seen["end"], otherwise="authorized-end-refused")
    for alias in ("allowed", "forbidden"):
        values = [value for write in expect.writes(seen, alias, "write") for value in write.written()]
        yield from expect.sound(seen, alias, values)


GOOD = evidence(
    *(joint_add(name, version, A=errors) for version in (0, 3) for name, errors in GRANTED.items()),
    described("kept", "Empty"),
    joint_add("all granted", 3, A={"allowed": 0, "forbidden": 0}),
    *(written("write", 11, alias, to=alias) for alias in ("allowed", "forbidden")),
    joint_add("end", 3),
    logs={alias: log(data(7, 0, alias), commit(7, 0)) for alias in ("allowed", "forbidden")},
)


def doctored(name: str, **errors: int) -> Evidence:
    """The add of that name with other answers."""
    return GOOD.with_step(name, **joint_add(name, 3, A=errors).fields)


REQUIREMENT = Requirement(
    id="KIP890-ATX-02",
    source=Source(890, "Public Interfaces"),
    statement="Up to version 3 an add needs Write on the transactional id and on each topic; else nothing is added.",
    needs=(Offers("AddPartitionsToTxn", 3),),
    cluster=USERS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(
            Refusal("unauthorized-add-accepted", doctored(name, **{**GRANTED[name], "forbidden": 0}))
            for name in GRANTED
        ),
        Refusal("unauthorized-add-accepted", doctored("id and a topic granted", allowed=0, forbidden=TOPIC)),
        Refusal("wrong-error", doctored("id granted", allowed=ID, forbidden=ID)),
        Refusal("unanswered", doctored("nothing granted", allowed=ID)),
        Refusal("partition-added", GOOD.with_step("kept", state="Ongoing", partitions=["allowed"])),
        Refusal("authorized-add-refused", doctored("all granted", allowed=ID, forbidden=ID)),
        Refusal("authorized-end-refused", GOOD.with_step("end", error=ID)),
        *unsound(GOOD, "allowed"),
        *unsound(GOOD, "forbidden"),
    ),
    refuted_by=(
        Failpoint(rules=EVERYTHING_ALLOWED, anomaly="unauthorized-add-accepted"),
        Failpoint(rules=EVERYTHING_ALLOWED, anomaly="partition-added"),
        Failpoint(rules=NO_WRITE_OF_IDS, anomaly="authorized-add-refused"),
        Failpoint(rules=NO_WRITE_OF_IDS, anomaly="wrong-error"),
    ),
)
