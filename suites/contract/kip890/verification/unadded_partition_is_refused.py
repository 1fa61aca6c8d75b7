"""KIP890-VERIFY-01: a write to a partition that its transaction never added must not enter the log.

Nobody would ever end such a write: no marker is due for a partition that the coordinator does not know, so readers of
committed records would stand still before it for ever. Every version that an older client speaks is tried, by a
producer that the leader never saw and by one that it knows in an older epoch. INVALID_TXN_STATE and that it comes with
a message are the KIP's; the message's words are Kafka's.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.verification_rules import EVERY_PARTITION_VERIFIED
from harness.contract.doctored import (
    commit,
    data,
    evidence,
    log,
    producer_row,
    producers,
    refused_write,
    sample,
    unsound,
    written,
)
from harness.contract.refuters import VERIFICATION, Failpoint, Liar, Release, Setting
from harness.contract.version_tables import UNADDED_MESSAGE, unadded, unadded_message
from harness.lab import Lab

PARTITIONS = ("P1", "P2")


def stimulus(lab: Lab) -> None:
    """A fresh producer, and one that committed on its partition in its last epoch, write without an add."""
    fresh, known = lab.producer("victim"), lab.producer("victim")
    places = {alias: lab.partition(alias) for alias in PARTITIONS}
    known.add(places["P2"])
    known.produce(places["P2"], as_="write before")
    known.end(commit=True)
    known.init()
    for txn, partition in zip((fresh, known), places.values(), strict=True):
        for version in lab.offered("Produce", range(3, 11)):
            txn.produce(partition, as_="unadded write", version=version)
        lab.sample(f"after {partition.alias}", partition)
        lab.observer.producers(partition, as_=f"producers {partition.alias}")


def check(seen: Evidence) -> Observations:
    """Each write is refused as not added, and the leader knows of no transaction."""
    for write in seen.all("unadded write"):
        message = unadded_message(write.version)
        yield expect.refused(write, unadded(write.version), otherwise="unadded-write-accepted", message=message)
    for alias, values in zip(PARTITIONS, ((), seen["write before"].written()), strict=True):
        yield from expect.sound(seen, alias, values, appended="unadded-record-appended", stuck="hanging-transaction")
        yield expect.stable(seen.sample(f"after {alias}"), otherwise="hanging-transaction")
        for write in expect.writes(seen, alias, "unadded write")[:1]:
            yield expect.not_open(seen[f"producers {alias}"], write.request_int("producer_id"))


OLD = KafkaError.INVALID_TXN_STATE
GOOD = evidence(
    written("write before", 10, "a", to="P2"),
    *(refused_write("unadded write", 3, OLD, to=alias) for alias in PARTITIONS),
    *(refused_write("unadded write", 10, OLD, error_message=UNADDED_MESSAGE, to=alias) for alias in PARTITIONS),
    *(producers(f"producers {alias}") for alias in PARTITIONS),
    logs={"P1": log(), "P2": log(data(7, 0, "a"), commit(7, 0))},
    samples=(sample("after P1", "P1", 0, 0), sample("after P2", "P2", 2, 2)),
)

REQUIREMENT = Requirement(
    id="KIP890-VERIFY-01",
    source=Source(890, "Ensure Ongoing Transaction for Older Clients (3)"),
    statement="A transactional write to a partition that was not added to the transaction is refused, not appended.",
    needs=(Offers("Produce", 9),),
    order=Order.ALONE,  # verifications of others beside it change the code (KIP890-VERIFY-17)
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unadded-write-accepted", GOOD.with_step("unadded write", error=0)),
        Refusal("wrong-error", GOOD.with_step("unadded write", error=KafkaError.TRANSACTION_ABORTABLE)),
        Refusal("no-message", GOOD.with_step("unadded write", error_message=None)),
        Refusal("wrong-message", GOOD.with_step("unadded write", error_message="another text")),
        Refusal("unanswered", GOOD.with_step("unadded write", error=None)),
        *unsound(GOOD, "P1", appended="unadded-record-appended", stuck="hanging-transaction"),
        *unsound(GOOD, "P2", appended="unadded-record-appended", stuck="hanging-transaction"),
        Refusal("hanging-transaction", GOOD.with_sample("after P1", high_watermark=1)),
        Refusal("transaction-opened", GOOD.with_step("producers P2", producers=[producer_row(since=0)])),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="unadded-write-accepted"),
        Setting(key=VERIFICATION, value="false", anomaly="hanging-transaction"),
        Failpoint(rules=EVERY_PARTITION_VERIFIED, anomaly="unadded-write-accepted"),
        Failpoint(rules=EVERY_PARTITION_VERIFIED, anomaly="transaction-opened"),
        Liar(api="Produce", instead_of=OLD, fields={"error_message": "no"}, anomaly="wrong-message"),
    ),
)
