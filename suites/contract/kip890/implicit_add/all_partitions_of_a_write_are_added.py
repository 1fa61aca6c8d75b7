"""KIP890-IMPL-09: one Produce of a new client to several partitions of a leader adds all of them.

The KIP's. A partition that were left out would get no marker, and its readers would be stuck at the open transaction.
Commit and abort are beside each other, so that each partition shows both markers.
"""

from harness.base.json_value import Json
from harness.contract import (
    Evidence,
    KafkaError,
    Observations,
    Offers,
    Refusal,
    Requirement,
    Source,
    TransactionResult,
    expect,
)
from harness.contract.byteman.coordinator_rules import ADD_NOT_KEPT
from harness.contract.byteman.verification_rules import NEW_CLIENT_TAKEN_FOR_OLD
from harness.contract.doctored import data as batch
from harness.contract.doctored import described, ended, evidence, log, marker, step, unsound
from harness.contract.refuters import Failpoint
from harness.lab import Lab

ALIASES = ("P1", "P2", "P3", "P4", "P5")


def stimulus(lab: Lab) -> None:
    """One request to five partitions of one leader; committed, then the same again and aborted."""
    first = lab.partition(ALIASES[0])
    partitions = [first, *(lab.partition(alias, leader=first.leader) for alias in ALIASES[1:])]
    for version in lab.offered("Produce", (12, 13)):
        txn = lab.producer(protocol=2)
        for result in TransactionResult:
            name, value = f"write to {result.noun}", f"{result.noun} {version}"
            txn.produce(*partitions, version=version, as_=name, values=(value,))
            lab.observer.transaction(txn.transactional_id, txn.coordinator, as_="transaction")
            txn.end(commit=result.commits, as_="end")


def check(seen: Evidence) -> Observations:
    """Accepted and listed with all five; each has its marker, and the committed values alone are shown."""
    for result in TransactionResult:
        for write in seen.all(f"write to {result.noun}"):
            for alias in ALIASES:
                yield expect.accepted(write.at(alias), otherwise="implicit-add-refused")
    for kept in seen.all("transaction"):
        yield expect.keeps(kept, state="Ongoing", partitions=ALIASES, otherwise="partition-not-added")
    for end in seen.all("end"):
        yield expect.accepted(end, otherwise="end-refused")
    written = [f"commit {write.version}" for write in seen.all("write to commit")]
    markers = [(result.marker,) for _ in written for result in TransactionResult]
    for alias in ALIASES:
        yield from expect.sound(seen, alias, committed=written, markers=markers)


_ANSWERS: dict[str, Json] = {alias: {"error": 0} for alias in ALIASES}
GOOD = evidence(
    *(step(f"write to {result.noun}", "Produce", 12, partitions=_ANSWERS) for result in TransactionResult),
    described("transaction", "Ongoing", partitions=ALIASES),
    ended(),
    logs={
        alias: log(
            *(
                each
                for epoch, result in enumerate(TransactionResult)
                for each in (batch(7, epoch, f"{result.noun} 12"), marker(result, epoch + 1))
            )
        )
        for alias in ALIASES
    },
)

REQUIREMENT = Requirement(
    id="KIP890-IMPL-09",
    source=Source(890, "Implicitly Add Partitions to Transactions on Produce for New Clients (2)"),
    statement="A new client's write to several partitions of one leader adds all of them to the transaction.",
    needs=(Offers("Produce", 12), Offers("EndTxn", 5)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal(
            "implicit-add-refused",
            GOOD.with_step("write to abort", partitions={**_ANSWERS, "P4": {"error": KafkaError.NOT_ENOUGH_REPLICAS}}),
        ),
        Refusal("partition-not-added", GOOD.with_step("transaction", partitions=list(ALIASES[:-1]))),
        Refusal("end-refused", GOOD.with_step("end", error=KafkaError.INVALID_TXN_STATE)),
        Refusal("wrong-markers", GOOD.with_log("P5", batches=GOOD.log("P5").batches[:-1])),
        *unsound(GOOD, "P3", appended=None),
    ),
    refuted_by=(
        Failpoint(rules=ADD_NOT_KEPT, anomaly="partition-not-added"),
        Failpoint(rules=NEW_CLIENT_TAKEN_FOR_OLD, anomaly="implicit-add-refused"),
    ),
)
