"""KIP890-VERIFY-18: one Produce request may not carry transactional batches of two producers.

A verification goes out for one transactional id and one producer id; the other producer's batch would be appended
without one. That the batch that is not the id's own is refused is the KIP's, as where it comes alone
(KIP890-VERIFY-04). The code, and that the id's own batch is refused with it because the request itself is wrong, are
Kafka's (``ReplicaManager.handleProduceAppend``).
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.doctored import commit, data, evidence, log, step, unsound
from harness.contract.refuters import Release
from harness.lab import Lab
from harness.lab.powers.joint_requests import batches

MIXED = KafkaError.INVALID_PRODUCER_ID_MAPPING
PARTITIONS = ("own", "foreign")


def stimulus(lab: Lab) -> None:
    """Two transactions, each with its partition added; one request under the first id has a batch of each."""
    txn, other = lab.producer("victim"), lab.producer("rival")
    own = lab.partition("own")
    foreign = lab.partition("foreign", leader=own.leader)
    for version in lab.offered("Produce", (9, 11)):
        txn.add(own)
        other.add(foreign)
        parts = (*batches(txn, own), *batches(other, foreign))
        lab.joint().produce(own.leader, txn.transactional_id, *parts, version=version, as_="mixed write")
        txn.end(commit=False)
        other.end(commit=False)
    lab.completed(own, foreign)
    for writer, partition in ((txn, own), (other, foreign)):
        writer.init()
        writer.write(partition)
        writer.end(commit=True)


def check(seen: Evidence) -> Observations:
    """Both batches refused and appended nowhere; afterwards each producer writes as ever."""
    for write in seen.all("mixed write"):
        answer = write.at("foreign")
        yield expect.refused(answer, MIXED, otherwise="foreign-batch-accepted", code=Level.SHOULD)
        yield expect.habit(expect.refused(write.at("own"), MIXED, otherwise="own-batch-accepted"))
    mixed = {value for write in seen.all("mixed write") for value in write.written()}
    for alias, level in zip(PARTITIONS, (Level.SHOULD, Level.MUST), strict=True):
        found = sorted(mixed & set(seen.log(alias).values()))
        appended = expect.agree(f"mixed batches in {alias}", found, [], otherwise="mixed-batch-appended")
        yield expect.habit(appended, level)
        shown = [value for value in seen.log(alias).values() if value not in mixed]
        yield from expect.sound(seen, alias, committed=shown, stuck="hanging-transaction")


GOOD = evidence(
    step(
        "mixed write",
        "Produce",
        9,
        error=MIXED,
        request={"values": ["a", "b"]},
        partitions={alias: {"error": MIXED} for alias in PARTITIONS},
    ),
    logs={alias: log(data(7, 1, "later"), commit(7, 1)) for alias in PARTITIONS},
)
APPENDED = log(data(7, 0, "b"), commit(7, 0))


def answers(own: int | None, foreign: int | None) -> Evidence:
    """The request with these answers."""
    return GOOD.with_step("mixed write", partitions={"own": {"error": own}, "foreign": {"error": foreign}})


REQUIREMENT = Requirement(
    id="KIP890-VERIFY-18",
    source=Source(890, "Ensure Ongoing Transaction for Older Clients (3)"),
    statement="A request with transactional batches of two producers is refused, and nothing of it is appended.",
    needs=(Offers("Produce", 9),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("foreign-batch-accepted", answers(MIXED, 0)),
        Refusal("own-batch-accepted", answers(0, MIXED)),
        Refusal("wrong-error", answers(MIXED, KafkaError.INVALID_TXN_STATE)),
        Refusal("wrong-error", answers(KafkaError.INVALID_TXN_STATE, MIXED)),
        Refusal("unanswered", answers(None, MIXED)),
        Refusal("unanswered", answers(MIXED, None)),
        *(Refusal("mixed-batch-appended", GOOD.with_log(alias, APPENDED, committed=())) for alias in PARTITIONS),
        *unsound(GOOD, "own", appended=None, stuck="hanging-transaction"),
        *unsound(GOOD, "foreign", appended=None, stuck="hanging-transaction"),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="foreign-batch-accepted"),
        Release(version="3.5.2", anomaly="own-batch-accepted"),
        Release(version="3.5.2", anomaly="mixed-batch-appended"),
    ),
)
