"""KIP890-ATX-01: from version 4 on AddPartitionsToTxn needs ClusterAction on the cluster.

Those versions are for brokers alone: they name any number of transactions, whose owners the coordinator cannot check.
So a user who may write under the id and to the topic, which is all that version 3 asks for, is refused as a whole. That
it is CLUSTER_AUTHORIZATION_FAILED is the KIP's ("Public Interfaces"); that no transaction is answered is Kafka's.
"""

from harness.contract import Access, Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.authorizer_rules import EVERYTHING_ALLOWED, NO_WRITE_OF_IDS
from harness.contract.doctored import commit, data, described, ended, evidence, log, step, unsound, written
from harness.contract.refuters import Failpoint
from harness.lab import Lab
from harness.lab.powers.joint_requests import part
from harness.lab.powers.users import AclOperation, on_id, on_topic
from suites.contract.wishes import ALICE, USERS

REFUSED = KafkaError.CLUSTER_AUTHORIZATION_FAILED


def stimulus(lab: Lab) -> None:
    """The user asks as a broker would, to verify and to add; then as a client, and writes."""
    txn, partition = lab.producer(), lab.partition("P1")
    write = AclOperation.WRITE
    with lab.grant(ALICE, on_id(txn, write), on_topic(partition, write)):
        for version in lab.offered("AddPartitionsToTxn", (4, 5)):
            for verify_only in (True, False):
                asked = {"A": part(txn, partition, verify_only=verify_only)}
                name = "verification" if verify_only else "add"
                lab.joint(user=ALICE).add(txn.coordinator, asked, version=version, as_=f"broker's {name}")
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
        own = lab.users.acting(ALICE, txn)
        own.add(partition, as_="client's add")
        own.produce(partition, as_="write")
        own.end(commit=True, as_="end")


def check(seen: Evidence) -> Observations:
    """Refused as a whole with no transaction answered, nothing added; the client's version goes through."""
    for asked in (*seen.all("broker's verification"), *seen.all("broker's add")):
        yield expect.refused(asked, REFUSED, otherwise="broker-request-accepted")
        answered = asked.fields.get("transactions")
        yield expect.habit(expect.agree("transactions answered", answered, {}, asked, otherwise="transaction-answered"))
    yield expect.over(seen["kept"], otherwise="transaction-started")
    for name in ("client's add", "write", "end"):
        yield expect.accepted(seen[name], otherwise="client-refused")
    yield from expect.sound(seen, "P1", seen["write"].written(), stuck="hanging-transaction")


GOOD = evidence(
    *(
        step(f"broker's {name}", "AddPartitionsToTxn", version, error=REFUSED, transactions={})
        for name in ("verification", "add")
        for version in (4, 5)
    ),
    described("kept", "Empty"),
    step("client's add", "AddPartitionsToTxn", 3),
    written("write", 11, "a"),
    ended(),
    logs={"P1": log(data(7, 0, "a"), commit(7, 0))},
)

REQUIREMENT = Requirement(
    id="KIP890-ATX-01",
    source=Source(890, "Public Interfaces"),
    statement="AddPartitionsToTxn of version 4 and above is refused to users without ClusterAction.",
    needs=(Offers("AddPartitionsToTxn", 4),),
    cluster=USERS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("broker-request-accepted", GOOD.with_step("broker's verification", error=0)),
        Refusal("broker-request-accepted", GOOD.with_step("broker's add", error=0)),
        Refusal("wrong-error", GOOD.with_step("broker's add", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("transaction-answered", GOOD.with_step("broker's add", transactions={"A": {"error": REFUSED}})),
        Refusal("transaction-started", GOOD.with_step("kept", state="Ongoing")),
        Refusal("client-refused", GOOD.with_step("client's add", error=REFUSED)),
        Refusal("client-refused", GOOD.with_step("write", error=REFUSED)),
        Refusal("client-refused", GOOD.with_step("end", error=REFUSED)),
        *unsound(GOOD, "P1", stuck="hanging-transaction"),
    ),
    refuted_by=(
        Failpoint(rules=EVERYTHING_ALLOWED, anomaly="broker-request-accepted"),
        Failpoint(rules=EVERYTHING_ALLOWED, anomaly="transaction-answered"),
        Failpoint(rules=EVERYTHING_ALLOWED, anomaly="transaction-started"),
        Failpoint(rules=NO_WRITE_OF_IDS, anomaly="client-refused"),
    ),
)
