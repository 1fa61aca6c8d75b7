"""KIP890-ATX-08: from version 4 on, a request that does not only verify adds its partitions and opens the transaction.

By it a leader adds for a newer client at its first write. All of it is the KIP's; which version of the client's
protocol the transaction log then says (tag 2, from 4.0 on at level 1 and above) is told in KIP890-LOG.
"""

from harness.contract import Evidence, KafkaError, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract.byteman.adding_rules import ADD_ONLY_VERIFIES, EVERY_ADD_ANSWERED_YES
from harness.contract.doctored import commit, data, described, ended, evidence, joint_add, log, unsound, written
from harness.contract.refuters import Failpoint
from harness.lab import Lab
from harness.lab.powers.joint_requests import part
from harness.lab.step_recorder import RETRIABLE

PARTITIONS = ("P1", "P2", "P3")
ADDED = dict.fromkeys(PARTITIONS, 0)


def stimulus(lab: Lab) -> None:
    """A fresh id's first partitions are added in a broker's version, written to by an old client, and committed."""
    places = [lab.partition(alias) for alias in PARTITIONS]
    for version in lab.offered("AddPartitionsToTxn", (4, 5)):
        txn = lab.producer()
        asked = {"A": part(txn, *places)}
        lab.joint().add(txn.coordinator, asked, version=version, as_="add", retry=RETRIABLE)
        lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="kept")
        for place in places:
            txn.produce(place, as_="write")
        txn.end(commit=True, as_="end")


def check(seen: Evidence) -> Observations:
    """Added, open with these partitions, and a transaction like any other."""
    for add, kept in zip(seen.all("add"), seen.all("kept"), strict=True):
        for alias in PARTITIONS:
            yield expect.accepted(add.of("A").at(alias), otherwise="add-refused")
        yield expect.keeps(kept, state="Ongoing", partitions=PARTITIONS, otherwise="partition-not-added")
    for step in (*seen.all("write"), *seen.all("end")):
        yield expect.accepted(step, otherwise="transaction-unusable")
    for alias in PARTITIONS:
        values = [value for write in expect.writes(seen, alias, "write") for value in write.written()]
        yield from expect.sound(seen, alias, values, stuck="hanging-transaction")


GOOD = evidence(
    joint_add("add", 4, A=ADDED),
    described("kept", "Ongoing", partitions=PARTITIONS),
    *(written("write", 11, alias, to=alias) for alias in PARTITIONS),
    ended(version=4),
    logs={alias: log(data(7, 0, alias), commit(7, 0)) for alias in PARTITIONS},
)
REFUSED = joint_add("", 4, A={**ADDED, "P2": KafkaError.TRANSACTION_ABORTABLE})

REQUIREMENT = Requirement(
    id="KIP890-ATX-08",
    source=Source(890, "Implicitly Add Partitions to Transactions on Produce for New Clients (2)"),
    statement="AddPartitionsToTxn of version 4 and above that does not only verify adds the partitions.",
    needs=(Offers("AddPartitionsToTxn", 4),),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("add-refused", GOOD.with_step("add", **REFUSED.fields)),
        Refusal("partition-not-added", GOOD.with_step("kept", partitions=["P1"])),
        Refusal("transaction-unusable", GOOD.with_step("write", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("transaction-unusable", GOOD.with_step("end", error=KafkaError.INVALID_TXN_STATE)),
        *(refusal for alias in PARTITIONS for refusal in unsound(GOOD, alias, stuck="hanging-transaction")),
    ),
    refuted_by=(
        Failpoint(rules=ADD_ONLY_VERIFIES, anomaly="add-refused"),
        Failpoint(rules=EVERY_ADD_ANSWERED_YES, anomaly="partition-not-added"),
        Failpoint(rules=EVERY_ADD_ANSWERED_YES, anomaly="transaction-unusable"),
    ),
)
