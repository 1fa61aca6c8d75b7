"""KIP664-DT-06: DescribeTransactions needs Describe on the transactional id; topics need it to be shown.

The permission on the id is the KIP's. That a topic which the user may not describe is left out of the answer, which is
a success all the same, is Kafka's: otherwise an id would tell the names of topics.
"""

from collections.abc import Mapping

from harness.base.json_value import Json
from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.authorizer_rules import EVERYTHING_ALLOWED, NO_DESCRIBE
from harness.contract.doctored import commit, data, evidence, log, step, unsound, written
from harness.contract.refuters import Failpoint
from harness.lab import Lab
from harness.lab.powers.looks import Looks
from harness.lab.powers.users import AclOperation, on_id, on_topic
from suites.contract.wishes import ALICE, USERS

API = "DescribeTransactions"
REFUSED, NOT_FOUND = KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, KafkaError.TRANSACTIONAL_ID_NOT_FOUND
PARTITIONS = ("P1", "P2")
FORBIDDEN = ("nothing granted", "topics granted")
SHOWN: Mapping[str, tuple[str, ...]] = {"id granted": (), "id and a topic granted": ("P1",), "all granted": PARTITIONS}


def stimulus(lab: Lab) -> None:
    """An open transaction on two topics, described by a user with more and more granted."""
    txn, places = lab.producer(), [lab.partition(alias) for alias in PARTITIONS]
    lab.notes.aliases[txn.transactional_id] = "id"
    txn.add(*places)
    for place in places:
        txn.produce(place, as_="write")
    own, topics = on_id(txn, AclOperation.DESCRIBE), [on_topic(place, AclOperation.DESCRIBE) for place in places]
    grants = {
        "nothing granted": (),
        "topics granted": topics,
        "id granted": (own,),
        "id and a topic granted": (own, topics[0]),
        "all granted": (own, *topics),
    }
    look = Looks(lab.user(ALICE))
    for name, granted in grants.items():
        with lab.grant(ALICE, *granted):
            look.transactions(txn.coordinator, txn.transactional_id, as_=name)
    txn.end(commit=True)


def check(seen: Evidence) -> Observations:
    """Refused without Describe on the id; with it, the transaction with the topics that may be described."""
    for name in FORBIDDEN:
        answer = seen[name].of("id")
        yield expect.refused(answer, REFUSED, otherwise="unauthorized-look-answered")
        yield expect.unless(
            not answer.fields.get("partitions"), f"{name}: no partition is shown", answer, otherwise="topic-shown"
        )
    for name, promised in SHOWN.items():
        answer = seen[name].of("id")
        yield expect.accepted(answer, otherwise="authorized-look-refused")
        yield expect.keeps(answer, state="Ongoing", otherwise="wrong-state-shown")
        yield expect.habit(expect.keeps(answer, partitions=promised, otherwise="wrong-topics-shown"))
    for alias in PARTITIONS:
        values = [value for write in expect.writes(seen, alias, "write") for value in write.written()]
        yield from expect.sound(seen, alias, values)


def answer(error: int, *partitions: str, state: str = "Ongoing") -> dict[str, Json]:
    """Of the id."""
    return {"id": {"error": error, "state": state, "partitions": list(partitions)}}


GOOD = evidence(
    *(written("write", 11, alias, to=alias) for alias in PARTITIONS),
    *(step(name, API, 0, error=REFUSED, transactions=answer(REFUSED, state="")) for name in FORBIDDEN),
    *(step(name, API, 0, transactions=answer(0, *shown)) for name, shown in SHOWN.items()),
    logs={alias: log(data(7, 0, alias), commit(7, 0)) for alias in PARTITIONS},
)

REQUIREMENT = Requirement(
    id="KIP664-DT-06",
    source=Source(664, API),
    statement="DescribeTransactions is answered to users with Describe on the id, with the topics that they may see.",
    needs=(Offers(API, 0),),
    cluster=USERS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("unauthorized-look-answered", GOOD.with_step(name, transactions=answer(0))) for name in FORBIDDEN),
        Refusal("topic-shown", GOOD.with_step(FORBIDDEN[0], transactions=answer(REFUSED, "P1"))),
        Refusal(
            "wrong-error", GOOD.with_step(FORBIDDEN[0], transactions=answer(KafkaError.TRANSACTIONAL_ID_NOT_FOUND))
        ),
        Refusal("unanswered", GOOD.with_step(FORBIDDEN[0], transactions={})),
        Refusal("authorized-look-refused", GOOD.with_step("all granted", transactions=answer(REFUSED, *PARTITIONS))),
        Refusal("wrong-state-shown", GOOD.with_step("id granted", transactions=answer(0, state="Empty"))),
        Refusal("wrong-topics-shown", GOOD.with_step("id granted", transactions=answer(0, "P2"))),
        Refusal("wrong-topics-shown", GOOD.with_step("all granted", transactions=answer(0, "P1"))),
        *(refusal for alias in PARTITIONS for refusal in unsound(GOOD, alias)),
    ),
    refuted_by=(
        Failpoint(rules=EVERYTHING_ALLOWED, anomaly="unauthorized-look-answered"),
        Failpoint(rules=EVERYTHING_ALLOWED, anomaly="topic-shown"),
        Failpoint(rules=EVERYTHING_ALLOWED, anomaly="wrong-topics-shown"),
        Failpoint(rules=NO_DESCRIBE, anomaly="authorized-look-refused"),
        Failpoint(rules=NO_DESCRIBE, anomaly="wrong-state-shown"),
    ),
)
