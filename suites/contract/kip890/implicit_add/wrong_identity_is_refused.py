"""KIP890-IMPL-05: a new client's first write with an identity that is not its transactional id's is refused.

The leader of a fresh partition knows no producer, so the coordinator's answer to the implicit add alone stops a zombie.
That a record in a wrong epoch is refused is the KIP's ("we will ensure that any produce requests are using the correct
epoch"), and that nothing is appended unless the add was stored. The codes are Kafka's: producers know the
coordinator's PRODUCER_FENCED as INVALID_PRODUCER_EPOCH.
"""

from harness.contract import Evidence, KafkaError, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.coordinator_rules import ADD_IN_THE_CURRENT_EPOCH
from harness.contract.byteman.leader_rules import EVERY_TRANSACTION_ONGOING
from harness.contract.doctored import commit, data, ended, evidence, log, refused_write, sample, unsound, written
from harness.contract.refuters import Failpoint
from harness.lab import Lab, Unprepared

STALE, UNMAPPED = KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.INVALID_PRODUCER_ID_MAPPING
CODES = {"stale epoch": STALE, "foreign producer id": UNMAPPED, "unknown transactional id": UNMAPPED}
INVENTED = 8_000_000_000_001
"""A producer id that no coordinator has handed out."""


def stimulus(lab: Lab) -> None:
    """Three writes with something wrong in each, then the right one."""
    partition, other = lab.partition("P1"), lab.producer("rival", protocol=2)
    stranger = lab.producer("rival", protocol=2, init=False)
    for version in lab.offered("Produce", (12, 13)):
        txn = lab.producer(protocol=2)
        stale = txn.epoch
        txn.init()
        if txn.epoch <= stale:
            raise Unprepared("a second InitProducerId did not raise the epoch")
        txn.produce(partition, version=version, epoch=stale, as_="stale epoch")
        txn.produce(partition, version=version, producer_id=other.producer_id, as_="foreign producer id")
        stranger.produce(
            partition, version=version, producer_id=INVENTED, epoch=0, sequence=0, as_="unknown transactional id"
        )
        lab.sample(f"refused v{version}", partition)
        txn.produce(partition, version=version, as_="own write")
        txn.end(commit=True, as_="commit")


def check(seen: Evidence) -> Observations:
    """Each is refused and nothing appended; the right one is committed alone."""
    for name, code in CODES.items():
        for write in seen.all(name):
            yield expect.refused(write, code, otherwise="wrong-identity-accepted", code=Level.SHOULD)
            yield expect.stable(seen.sample(f"refused v{write.version}"), write, otherwise="hanging-transaction")
    own = seen.all("own write")
    for step in (*own, *seen.all("commit")):
        yield expect.accepted(step, otherwise="own-write-refused")
    yield from expect.sound(seen, "P1", [value for write in own for value in write.written()])


GOOD = evidence(
    *(refused_write(name, 12, code) for name, code in CODES.items()),
    written("own write", 12, "a"),
    ended("commit", epoch=1),
    samples=(sample("refused v12", "P1", 0, 0),),
    logs={"P1": log(data(7, 1, "a"), commit(7, 2))},
)

REQUIREMENT = Requirement(
    id="KIP890-IMPL-05",
    source=Source(890, "Implicitly Add Partitions to Transactions on Produce for New Clients (2)"),
    statement="A new client's first write with a wrong epoch, producer id or transactional id is refused.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        *(Refusal("wrong-identity-accepted", GOOD.with_step(name, error=0)) for name in CODES),
        *(Refusal("wrong-error", GOOD.with_step(name, error=KafkaError.INVALID_TXN_STATE)) for name in CODES),
        Refusal("unanswered", GOOD.with_step("stale epoch", error=None)),
        Refusal("hanging-transaction", GOOD.with_sample("refused v12", high_watermark=1)),
        Refusal("own-write-refused", GOOD.with_step("own write", error=STALE)),
        Refusal("own-write-refused", GOOD.with_step("commit", error=KafkaError.INVALID_TXN_STATE)),
        *unsound(GOOD),
    ),
    refuted_by=(
        Failpoint(rules=ADD_IN_THE_CURRENT_EPOCH, anomaly="wrong-identity-accepted"),
        Failpoint(rules=EVERY_TRANSACTION_ONGOING, anomaly="hanging-transaction"),
    ),
)
