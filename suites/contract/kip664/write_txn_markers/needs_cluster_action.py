"""KIP664-WTM-05: WriteTxnMarkers needs ClusterAction on the cluster ("only administrators should be allowed to abort").

Who may only produce could otherwise end the transactions of others. Since 3.8 Alter on the cluster is enough as well,
which is KIP-1037's (KAFKA-16513): it is judged as Kafka's.
"""

from harness.base.json_value import Json
from harness.contract import (
    Access,
    Evidence,
    KafkaError,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.authorizer_rules import EVERYTHING_ALLOWED, NO_CLUSTER_ACTION
from harness.contract.doctored import abort, data, evidence, log, sample, step, unsound, written
from harness.contract.refuters import Failpoint, Release
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab, Partition, Producer
from harness.lab.powers.markers import MarkerWriter
from harness.lab.powers.users import AclOperation, on_cluster, on_id, on_topic
from suites.contract.wishes import ALICE, USERS

REFUSED = KafkaError.CLUSTER_AUTHORIZATION_FAILED
PARTITIONS = ("P1", "P2")
CASES = ("cluster-action", "alter")
ALLOWED = {"cluster action granted": AclOperation.CLUSTER_ACTION, "alter granted": AclOperation.ALTER}


def stimulus(lab: Lab) -> None:
    """Two transactions on two partitions of one leader each; the user who may write to them, then who may end them."""
    for name, operation in ALLOWED.items():
        txn, case = lab.producer(), operation.name.lower().replace("_", "-")
        first = lab.partition(f"{case}-P1")
        places = (first, lab.partition(f"{case}-P2", leader=first.leader))
        txn.add(*places)
        for place in places:
            txn.produce(place, as_="write")
        write = AclOperation.WRITE
        with lab.grant(ALICE, on_id(txn, write), *(on_topic(place, write) for place in places)):
            marked(lab, txn, places, "write granted")
        lab.sample(f"{case} before", *places[:1])
        with lab.grant(ALICE, on_cluster(operation)):
            marked(lab, txn, places, name)
        lab.sample(f"{case} after", *places[:1])
        txn.end(commit=False)


def marked(lab: Lab, txn: Producer, places: tuple[Partition, ...], name: str) -> None:
    """The user's abort marker for both partitions."""
    writer = MarkerWriter(lab.user(ALICE), before_change=lambda _what: None)
    writer(*places, producer_id=txn.producer_id, epoch=txn.epoch, commit=False, as_=name)


def check(seen: Evidence) -> Observations:
    """Refused on every partition and still open; written with ClusterAction, and by Kafka's habit with Alter."""
    for refused, case in zip(seen.all("write granted"), CASES, strict=True):
        for alias in PARTITIONS:
            answer = refused.at(f"{case}-{alias}")
            yield expect.refused(answer, REFUSED, otherwise="unauthorized-marker-accepted")
        yield expect.unstable(seen.sample(f"{case} before"), otherwise="unauthorized-marker-written")
    for alias in PARTITIONS:
        answer = seen["cluster action granted"].at(f"cluster-action-{alias}")
        yield expect.accepted(answer, otherwise="administrator-refused")
        by_alter = seen["alter granted"].at(f"alter-{alias}")
        yield expect.habit(expect.accepted(by_alter, otherwise="alter-not-enough"))
    yield expect.stable(seen.sample("cluster-action after"), otherwise="marker-not-written")
    for write in seen.all("write"):
        for alias in seen.logs:
            if write.request.get("partitions") == [alias]:
                yield from expect.sound(seen, alias, write.written(), committed=())


def marker(name: str, *errors: int, cases: tuple[str, ...] = CASES) -> Step:
    """A WriteTxnMarkers with these answers of its two partitions, under the names of these cases."""
    answers: dict[str, Json] = {
        f"{case}-{alias}": error for case in cases for alias, error in zip(PARTITIONS, errors, strict=False)
    }
    return step(name, "WriteTxnMarkers", 1, error=max(errors, default=0), partitions=answers)


GOOD = evidence(
    *(written("write", 11, "a", to=f"{case}-{alias}") for case in CASES for alias in PARTITIONS),
    *(marker("write granted", REFUSED, REFUSED) for _ in CASES),
    *(marker(name, 0, 0) for name in ALLOWED),
    logs={f"{case}-{alias}": log(data(7, 0, "a"), abort(7, 0)) for case in CASES for alias in PARTITIONS},
    samples=(
        *(sample(f"{case} before", f"{case}-P1", 1, 0) for case in CASES),
        *(sample(f"{case} after", f"{case}-P1", 2, 2) for case in CASES),
    ),
)


def doctored(name: str, *errors: int) -> Evidence:
    """A run in which the markers of that name were answered so."""
    return GOOD.with_step(name, **marker(name, *errors).fields)


REQUIREMENT = Requirement(
    id="KIP664-WTM-05",
    source=Source(664, "WriteTxnMarkers"),
    statement="WriteTxnMarkers is refused to users without ClusterAction on the cluster, and writes nothing.",
    needs=(Offers("WriteTxnMarkers", 1),),
    cluster=USERS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unauthorized-marker-accepted", doctored("write granted", 0, REFUSED)),
        Refusal("unauthorized-marker-accepted", doctored("write granted", REFUSED, 0)),
        Refusal("wrong-error", doctored("write granted", REFUSED, KafkaError.TOPIC_AUTHORIZATION_FAILED)),
        Refusal("unanswered", doctored("write granted", REFUSED)),
        Refusal("unauthorized-marker-written", GOOD.with_sample("alter before", last_stable_offset=1)),
        Refusal("administrator-refused", doctored("cluster action granted", 0, REFUSED)),
        Refusal("alter-not-enough", doctored("alter granted", REFUSED, 0)),
        Refusal("marker-not-written", GOOD.with_sample("cluster-action after", last_stable_offset=0)),
        *(refusal for alias in GOOD.logs for refusal in unsound(GOOD, alias)),
    ),
    refuted_by=(
        Failpoint(rules=EVERYTHING_ALLOWED, anomaly="unauthorized-marker-accepted"),
        Failpoint(rules=EVERYTHING_ALLOWED, anomaly="unauthorized-marker-written"),
        Failpoint(rules=NO_CLUSTER_ACTION, anomaly="administrator-refused"),
        Failpoint(rules=NO_CLUSTER_ACTION, anomaly="marker-not-written"),
        Release(version="3.7.2", anomaly="alter-not-enough"),
    ),
)
