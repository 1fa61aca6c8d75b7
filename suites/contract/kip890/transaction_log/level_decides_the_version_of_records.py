"""KIP890-FEAT-08: the level of transaction.version decides in which layout the coordinator writes its log.

Level 0 writes version 0, which brokers of before KIP-915 can read; levels 1 and 2 write version 1 with its tagged
fields. The KIP wants just that gated. A record that is in the log keeps its layout until its id is written again, and
the id goes on over each change.
"""

from harness.contract import (
    Access,
    Evidence,
    Feature,
    KafkaError,
    Observations,
    Offers,
    Order,
    Refusal,
    Requirement,
    Source,
    expect,
)
from harness.contract.byteman.transaction_metadata_rules import COMPLETED_IDS_ARE_NOT_KEPT, RECORDS_AS_OF_LEVEL_1
from harness.contract.doctored import adopted, unsound
from harness.contract.records.state_records import state_records, with_record
from harness.contract.refuters import Failpoint, Liar
from harness.lab import Lab

LEVELS = (2, 0, 1)
WRITTEN = ("Empty", "Ongoing", "PrepareCommit", "CompleteCommit")


def stimulus(lab: Lab) -> None:
    """One id: initialised and used for a transaction at each level; the records that this adds."""
    partition, txn, known = lab.partition("P1"), lab.producer(init=False), 0
    for level in LEVELS:
        with lab.admin.feature("transaction.version", level):
            txn.init(as_="init")
            txn.add(partition)
            txn.produce(partition, as_="write")
            txn.end(commit=True, version=4, as_="end")
            lab.reached(txn, "CompleteCommit", as_="kept")
            records = lab.observer.transaction_records(txn.transactional_id, txn.coordinator)
        lab.note(f"records at level {level}", records[known:])
        known = len(records)


def check(seen: Evidence) -> Observations:
    """Each step of the transaction has its record, in the level's layout; the id is initialised and used throughout."""
    for step in (*seen.all("init"), *seen.all("write"), *seen.all("end")):
        yield expect.accepted(step, otherwise="refused-after-a-change")
    for level in LEVELS:
        records = state_records(seen, f"records at level {level}")
        states = tuple(record["state"] for record in records)
        yield expect.habit(expect.agree(f"states at level {level}", states, WRITTEN, otherwise="other-records"))
        versions = {record["version"] for record in records}
        promised = {0 if level == 0 else 1}
        yield expect.agree(f"versions at level {level}", versions, promised, otherwise="wrong-record-version")
    values = [value for step in seen.all("write") for value in step.written()]
    yield from expect.sound(seen, "P1", values)


GOOD = adopted(__file__, "KIP890-FEAT-08")

REQUIREMENT = Requirement(
    id="KIP890-FEAT-08",
    source=Source(890, "Transaction Feature Version (0)"),
    statement="At level 0 the coordinator's records have version 0, from level 1 on version 1.",
    needs=(Offers("EndTxn", 4), Feature("transaction.version", 2)),
    order=Order.CHANGES_SETTINGS,
    access=(Access.CHANGES,),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("refused-after-a-change", GOOD.with_step("init", error=KafkaError.COORDINATOR_NOT_AVAILABLE)),
        Refusal("wrong-record-version", with_record(GOOD, "records at level 0", "Empty", version=1)),
        Refusal("wrong-record-version", with_record(GOOD, "records at level 1", "Ongoing", version=0)),
        Refusal("wrong-record-version", with_record(GOOD, "records at level 2", "CompleteCommit", version=0)),
        Refusal("other-records", with_record(GOOD, "records at level 2", "CompleteCommit", state="Ongoing")),
        *unsound(GOOD),
    ),
    refuted_by=(
        Failpoint(rules=RECORDS_AS_OF_LEVEL_1, anomaly="wrong-record-version"),
        Liar(api="EndTxn", instead_of=0, error=KafkaError.INVALID_TXN_STATE, anomaly="refused-after-a-change"),
        Failpoint(rules=COMPLETED_IDS_ARE_NOT_KEPT, anomaly="other-records"),
    ),
)
