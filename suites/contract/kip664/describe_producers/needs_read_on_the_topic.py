"""KIP664-DP-06: DescribeProducers needs Read on the topic; other topics in the request are answered all the same.

The KIP says Read where it introduces the API and Describe in its list of errors. Read is what brokers ask for, so that
Describe alone is refused is Kafka's. Who may read a topic sees its records; who may not sees nothing of its producers.
"""

from harness.base.json_value import Json
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
from harness.contract.byteman.authorizer_rules import EVERYTHING_ALLOWED, NO_READ
from harness.contract.doctored import commit, data, evidence, log, producer_row, step, unsound, written
from harness.contract.refuters import Failpoint
from harness.evidence.requirement_evidence import Step
from harness.lab import Lab
from harness.lab.powers.looks import Looks
from harness.lab.powers.users import AclOperation, on_topic
from suites.contract.wishes import ALICE, USERS

REFUSED = KafkaError.TOPIC_AUTHORIZATION_FAILED
PARTITIONS = ("P1", "P2")
WITHOUT = ("nothing granted", "describe granted")


def stimulus(lab: Lab) -> None:
    """Two topics with an open transaction, and a user who may do more and more on the first."""
    txn, first = lab.producer(), lab.partition("P1")
    second = lab.partition("P2", leader=first.leader)
    txn.add(first, second)
    for partition in (first, second):
        txn.produce(partition, as_="write")
    look = Looks(lab.user(ALICE))
    grants = {
        "nothing granted": (),
        "describe granted": (on_topic(first, AclOperation.DESCRIBE),),
        "read granted": (on_topic(first, AclOperation.READ),),
    }
    for name, granted in grants.items():
        with lab.grant(ALICE, *granted):
            look.producers(first.leader, first, second, as_=name)
    txn.end(commit=True)


def check(seen: Evidence) -> Observations:
    """Refused without Read, with nothing of the producers; with it on one topic that one is described."""
    for name in WITHOUT:
        for alias in PARTITIONS:
            level = Level.SHOULD if (name, alias) == ("describe granted", "P1") else Level.MUST
            answer = seen[name].at(alias)
            yield expect.habit(expect.refused(answer, REFUSED, otherwise="unauthorized-look-answered"), level)
            yield expect.habit(expect.shows(answer, producers=[], otherwise="producers-shown"), level)
    granted = seen["read granted"]
    yield expect.accepted(granted.at("P1"), otherwise="authorized-look-refused")
    producer = seen.all("write")[0].request_int("producer_id")
    yield expect.open_since(granted.at("P1"), producer, 0, otherwise="producer-not-shown")
    yield expect.refused(granted.at("P2"), REFUSED, otherwise="unauthorized-look-answered")
    for alias in PARTITIONS:
        values = [value for write in expect.writes(seen, alias, "write") for value in write.written()]
        yield from expect.sound(seen, alias, values)


def look(name: str, first: int, second: int = REFUSED, *, shown: bool | None = None) -> Step:
    """A look with these errors; the producers are shown where there is none, or of the first partition as told."""
    rows = {"P1": first == 0 if shown is None else shown, "P2": second == 0}
    partitions: dict[str, Json] = {
        alias: {"error": error, "producers": [producer_row(since=0)] if rows[alias] else []}
        for alias, error in zip(PARTITIONS, (first, second), strict=True)
    }
    return step(name, "DescribeProducers", 0, error=first or second, partitions=partitions)


def looked(name: str, first: int, second: int = REFUSED, *, shown: bool | None = None) -> Evidence:
    """A run in which that look was answered so."""
    return GOOD.with_step(name, **look(name, first, second, shown=shown).fields)


GOOD = evidence(
    *(written("write", 11, alias, to=alias) for alias in PARTITIONS),
    *(look(name, REFUSED) for name in WITHOUT),
    look("read granted", 0),
    logs={alias: log(data(7, 0, alias), commit(7, 0)) for alias in PARTITIONS},
)
UNANSWERED = {"P1": {"producers": []}, "P2": {"error": REFUSED, "producers": []}}

REQUIREMENT = Requirement(
    id="KIP664-DP-06",
    source=Source(664, "DescribeProducers"),
    statement="DescribeProducers shows the producers of topics on which the user has Read, and no others.",
    needs=(Offers("DescribeProducers", 0),),
    cluster=USERS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unauthorized-look-answered", looked("nothing granted", 0, shown=False)),
        Refusal("unauthorized-look-answered", looked("describe granted", 0, shown=False)),
        Refusal("unauthorized-look-answered", looked("read granted", 0, 0)),
        Refusal("wrong-error", looked("nothing granted", KafkaError.UNKNOWN_TOPIC_OR_PARTITION)),
        Refusal("wrong-error", looked("read granted", 0, KafkaError.UNKNOWN_TOPIC_OR_PARTITION)),
        Refusal("unanswered", GOOD.with_step("describe granted", partitions=UNANSWERED)),
        Refusal("producers-shown", looked("nothing granted", REFUSED, shown=True)),
        Refusal("authorized-look-refused", looked("read granted", REFUSED, shown=True)),
        Refusal("producer-not-shown", looked("read granted", 0, shown=False)),
        *(refusal for alias in PARTITIONS for refusal in unsound(GOOD, alias)),
    ),
    refuted_by=(
        Failpoint(rules=EVERYTHING_ALLOWED, anomaly="unauthorized-look-answered"),
        Failpoint(rules=EVERYTHING_ALLOWED, anomaly="producers-shown"),
        Failpoint(rules=NO_READ, anomaly="authorized-look-refused"),
        Failpoint(rules=NO_READ, anomaly="producer-not-shown"),
    ),
)
