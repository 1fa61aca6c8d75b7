"""KIP890-SAFE-04: a client that writes first and adds later cannot make the first write durable.

A real client's mistake that led to the KIP: the record was in the log before its partition was in the transaction.
The refused write must be gone; the same batch, sent again after adding, is the only copy, and it is committed. Sent
once more, as a client does that heard no answer, it is a duplicate. For version 11 the KIP has INVALID_TXN_STATE as
well; TRANSACTION_ABORTABLE is Kafka's.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Order, Refusal, Requirement, Source, expect
from harness.contract.byteman.leader_rules import NO_DUPLICATE_FOUND, NO_SEQUENCE_CHECK
from harness.contract.byteman.marker_rules import MARKERS_ABORT
from harness.contract.byteman.verification_rules import EVERY_PARTITION_VERIFIED
from harness.contract.doctored import commit, data, ended, evidence, log, refused_write, sample, step, unsound, written
from harness.contract.refuters import VERIFICATION, Failpoint, Liar, Release, Setting
from harness.contract.version_tables import unadded, unadded_by_kip
from harness.lab import Lab


def stimulus(lab: Lab) -> None:
    """Write, add, the same write again, commit."""
    txn, partition = lab.producer("victim"), lab.partition("P1")
    for sequence, version in enumerate(lab.offered("Produce", (9, 11))):
        once = [f"once v{version}"]
        lab.sample(f"before v{version}", partition)
        txn.produce(partition, as_="write before adding", version=version, values=once, sequence=sequence)
        lab.sample(f"refused v{version}", partition)
        txn.add(partition, as_="add")
        txn.produce(partition, as_="write after adding", version=version, values=once, sequence=sequence)
        txn.produce(partition, as_="repeated write", version=version, values=once, sequence=sequence)
        txn.end(commit=True, as_="commit")
        lab.completed(partition)


def check(seen: Evidence) -> Observations:
    """Refused before, accepted after; the log has each batch exactly once, committed."""
    for first in seen.all("write before adding"):
        allowed = unadded_by_kip(first.version)
        yield expect.refused(first, unadded(first.version), otherwise="unadded-write-accepted", also=allowed)
        before, after = (seen.sample(f"{name} v{first.version}").high_watermark for name in ("before", "refused"))
        what = "high watermark after the first write"
        yield expect.agree(what, after, before, first, otherwise="unadded-record-appended")
    for right in (*seen.all("add"), *seen.all("write after adding"), *seen.all("commit")):
        yield expect.accepted(right, otherwise="right-step-refused")
    for repeated in seen.all("repeated write"):
        known = repeated.error in (0, KafkaError.DUPLICATE_SEQUENCE_NUMBER)
        yield expect.unless(known, "the repeated batch is known", repeated, otherwise="repetition-refused")
    values = [value for write in seen.all("write after adding") for value in write.written()]
    yield from expect.sound(
        seen, "P1", values, appended="not-one-copy", shown="not-committed", stuck="hanging-transaction"
    )


GOOD = evidence(
    refused_write("write before adding", 9, KafkaError.INVALID_TXN_STATE, "once"),
    step("add", "AddPartitionsToTxn", 3),
    written("write after adding", 9, "once"),
    written("repeated write", 9, "once"),
    ended("commit", version=4),
    logs={"P1": log(data(7, 0, "once"), commit(7, 0))},
    samples=(sample("before v9", "P1", 0, 0), sample("refused v9", "P1", 0, 0)),
)
TWICE = log(data(7, 0, "once"), data(7, 0, "once"), commit(7, 0))

REQUIREMENT = Requirement(
    id="KIP890-SAFE-04",
    source=Source(890, "Motivation"),
    statement="A write that came before its partition was added is never durable; sent again after adding, it is once.",
    needs=(Offers("Produce", 9),),
    order=Order.ALONE,  # verifications of others beside it change the code (KIP890-VERIFY-17)
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("unadded-write-accepted", GOOD.with_step("write before adding", error=0)),
        Refusal("wrong-error", GOOD.with_step("write before adding", error=KafkaError.TRANSACTION_ABORTABLE)),
        Refusal("unanswered", GOOD.with_step("write before adding", error=None)),
        Refusal("unadded-record-appended", GOOD.with_sample("refused v9", high_watermark=1)),
        Refusal("right-step-refused", GOOD.with_step("write after adding", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("repetition-refused", GOOD.with_step("repeated write", error=KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER)),
        Refusal("not-one-copy", GOOD.with_log("P1", TWICE, committed=("once",))),
        *unsound(GOOD, "P1", appended="not-one-copy", shown="not-committed", stuck="hanging-transaction"),
    ),
    refuted_by=(
        Release(version="3.5.2", anomaly="unadded-write-accepted"),
        Setting(key=VERIFICATION, value="false", anomaly="unadded-record-appended"),
        Failpoint(rules=EVERY_PARTITION_VERIFIED + NO_DUPLICATE_FOUND + NO_SEQUENCE_CHECK, anomaly="not-one-copy"),
        Failpoint(rules=MARKERS_ABORT, anomaly="not-committed"),
        Liar(api="AddPartitionsToTxn", instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="right-step-refused"),
    ),
)
