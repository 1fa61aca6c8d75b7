"""KIP890-LOG-04: the coordinator's records tell by which protocol the client runs its transaction.

Who takes over in the middle of an end must know whether the markers and the next epoch follow the new protocol. The
KIP's layout has no such field; Kafka added it as ``ClientTransactionVersion`` (KAFKA-18062): all of this is its habit.
"""

from typing import Literal

from harness.contract import Evidence, Feature, Level, Observations, Offers, Refusal, Requirement, Source, expect
from harness.contract import TransactionResult as Result
from harness.contract.byteman.transaction_metadata_rules import PROTOCOL_NOT_RECORDED
from harness.contract.doctored import adopted
from harness.contract.records.state_records import in_state, recorded, with_record
from harness.contract.refuters import Failpoint
from harness.lab import Lab

PROTOCOLS: tuple[Literal[1, 2], ...] = (1, 2)
RECORDED = {1: 0, 2: 2}
"""Kafka knows an old client's transaction as one of level 0, a new one's as one of level 2."""


def stimulus(lab: Lab) -> None:
    """A commit and an abort by each protocol; the records of each id."""
    partition = lab.partition("P1")
    for protocol in PROTOCOLS:
        txn = lab.producer(protocol=protocol)
        for result in Result:
            txn.write(partition)
            txn.end(commit=result.commits, as_="end")
            lab.reached(txn, result.completed, as_="kept")
        records = lab.observer.transaction_records(txn.transactional_id, txn.coordinator)
        lab.note(f"records of protocol {protocol}", records)


def check(seen: Evidence) -> Observations:
    """From the first partition to the completed end: 2 of the new protocol, none of the old."""
    for end in seen.all("end"):
        yield expect.accepted(end, otherwise="end-refused")
    for protocol in PROTOCOLS:
        name = f"records of protocol {protocol}"
        for state in ("Ongoing", *(state for result in Result for state in (result.prepared, result.completed))):
            record, version = in_state(seen, name, state), RECORDED[protocol]
            what = f"protocol {protocol}, {state}"
            yield recorded(what, record, client_transaction_version=version, otherwise="protocol-not-recorded")


GOOD = adopted(__file__, "KIP890-LOG-04")
OLD, NEW = (f"records of protocol {protocol}" for protocol in PROTOCOLS)

REQUIREMENT = Requirement(
    id="KIP890-LOG-04",
    source=Source(890, "Public Interfaces: TransactionLogValue"),
    statement="The client's transaction version is recorded with every state of its transaction.",
    level=Level.SHOULD,
    needs=(Offers("EndTxn", 5), Offers("Produce", 12), Feature("transaction.version", 2)),
    stimulus=stimulus,
    check=check,
    accepts=(GOOD,),
    refuses=(
        Refusal("end-refused", GOOD.with_step("end", error=48)),
        Refusal("protocol-not-recorded", with_record(GOOD, NEW, "Ongoing", client_transaction_version=0)),
        Refusal("protocol-not-recorded", with_record(GOOD, NEW, "PrepareAbort", client_transaction_version=1)),
        Refusal("protocol-not-recorded", with_record(GOOD, OLD, "CompleteCommit", client_transaction_version=2)),
    ),
    refuted_by=(Failpoint(rules=PROTOCOL_NOT_RECORDED, anomaly="protocol-not-recorded"),),
)
