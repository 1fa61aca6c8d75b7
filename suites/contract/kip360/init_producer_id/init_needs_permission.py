"""KIP360-INIT-16-USER: InitProducerId needs Write on the transactional id, or without one the right to be idempotent.

The part of KIP360-INIT-16 that needs an authorizer. The permissions are KIP-98's and KIP-679's (Write on any topic is
as good as IdempotentWrite), which KIP-360 leaves as they are: all of it is judged as Kafka's.
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
from harness.contract.doctored import described, evidence, step
from harness.contract.refuters import Failpoint
from harness.lab import Lab
from harness.lab.powers.users import AclOperation, Grant, on_cluster, on_id, on_topic
from harness.lab.step_recorder import RETRIABLE
from harness.wire.requests.transactions.init_producer_id import InitProducerId
from suites.contract.wishes import ALICE, USERS

API = "InitProducerId"
REFUSED = KafkaError.CLUSTER_AUTHORIZATION_FAILED
ERRORS = {
    "id, nothing granted": KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    "id, describe granted": KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    "no id, nothing granted": KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    "no id, read granted": KafkaError.CLUSTER_AUTHORIZATION_FAILED,
}
ALLOWED = ("id, write granted", "no id, idempotent write granted", "no id, topic granted")


def stimulus(lab: Lab) -> None:
    """With and without a transactional id, with nothing, too little and enough granted."""
    txn, partition = lab.producer(), lab.partition("P1")
    ids: dict[str, tuple[Grant, ...]] = {
        "id, nothing granted": (),
        "id, describe granted": (on_id(txn, AclOperation.DESCRIBE),),
        "id, write granted": (on_id(txn, AclOperation.WRITE),),
    }
    none: dict[str, tuple[Grant, ...]] = {
        "no id, nothing granted": (),
        "no id, read granted": (on_topic(partition, AclOperation.READ),),
        "no id, idempotent write granted": (on_cluster(AclOperation.IDEMPOTENT_WRITE),),
        "no id, topic granted": (on_topic(partition, AclOperation.WRITE),),
    }
    asked(lab, txn.transactional_id, txn.coordinator, none | ids)
    lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")


def asked(lab: Lab, transactional_id: str, node: int, grants: dict[str, tuple[Grant, ...]]) -> None:
    """Each at every version, before anything that succeeds for the id."""
    user = lab.user(ALICE)
    for name, granted in grants.items():
        request = InitProducerId(transactional_id=None if name.startswith("no id") else transactional_id)
        with lab.grant(ALICE, *granted):
            for version in lab.offered(API, range(6)):
                user.ask(node, request, version, as_=name, retry=() if name in ERRORS else RETRIABLE)


def check(seen: Evidence) -> Observations:
    """Refused by what is missing, no identity given and no epoch used up; else given."""
    for name, error in ERRORS.items():
        for init in seen.all(name):
            yield expect.refused(init, error, otherwise="unauthorized-init-accepted")
            yield expect.identity(init, -1, -1, otherwise="identity-given")
    for name in ALLOWED:
        for init in seen.all(name):
            yield expect.accepted(init, otherwise="authorized-init-refused")
    yield expect.keeps(seen["kept"], epoch=len(seen.all("id, write granted")), otherwise="epoch-used-up")


GOOD = evidence(
    *(step(name, API, 4, error=error, producer_id=-1, producer_epoch=-1) for name, error in ERRORS.items()),
    *(step(name, API, 4, producer_id=7, producer_epoch=1) for name in ALLOWED),
    described("kept", "Empty", epoch=1),
)

REQUIREMENT = Requirement(
    id="KIP360-INIT-16-USER",
    source=Source(360, "Background"),
    statement="InitProducerId is refused to users without Write on the id, or IdempotentWrite where there is none.",
    level=Level.SHOULD,
    needs=(Offers(API, 3),),
    cluster=USERS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("unauthorized-init-accepted", GOOD.with_step(name, error=0)) for name in ERRORS),
        *(Refusal("wrong-error", GOOD.with_step(name, error=KafkaError.INVALID_REQUEST)) for name in ERRORS),
        Refusal("unanswered", GOOD.with_step("no id, nothing granted", error=None)),
        Refusal("identity-given", GOOD.with_step("id, nothing granted", producer_id=7, producer_epoch=1)),
        *(Refusal("authorized-init-refused", GOOD.with_step(name, error=REFUSED)) for name in ALLOWED),
        Refusal("epoch-used-up", GOOD.with_step("kept", producer_epoch=2)),
    ),
    refuted_by=(
        Failpoint(rules=EVERYTHING_ALLOWED, anomaly="unauthorized-init-accepted"),
        Failpoint(rules=EVERYTHING_ALLOWED, anomaly="identity-given"),
        Failpoint(rules=EVERYTHING_ALLOWED, anomaly="epoch-used-up"),
        Failpoint(rules=NO_WRITE_OF_IDS, anomaly="authorized-init-refused"),
    ),
)
