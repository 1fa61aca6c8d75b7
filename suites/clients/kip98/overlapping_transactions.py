"""KIP98-READ-02: of transactions whose batches lie between each other's, each record follows its own.

Which batches are left out is decided by producer id, from the aborted transaction's first offset to its ABORT marker
(Kafka: ``CompletedFetch.isBatchAborted``, ``abortedProducerIds``). Producers begin before, within and after one
another, and end in other orders than they began.

The catalogue has no ids for what a reader keeps; see the package.
"""

from harness.contract import OtherClient
from harness.contract.clients.log_plan import aborts, commits, wrote
from suites.clients.forms.reading_requirement import SHOWN, reading_requirement

TWO = (
    wrote("A", "a1"),
    wrote("B", "b1", "b2"),
    wrote("A", "a2", "a3"),
    wrote("B", "b3"),
    aborts("A"),
    wrote("B", "b4"),
    commits("B"),
    wrote("A", "a4"),
    wrote("B", "b5"),
    commits("A"),
    wrote("B", "b6"),
    aborts("B"),
)
THREE = (
    wrote("A", "a1"),
    wrote("B", "b1"),
    wrote("C", "c1"),
    wrote("A", "a2"),
    aborts("C"),
    wrote("C", "c2"),
    wrote("B", "b2"),
    aborts("B"),
    wrote("C", "c3"),
    wrote("A", "a3"),
    commits("C"),
    wrote("B", "b3"),
    aborts("A"),
    commits("B"),
)

REQUIREMENT = reading_requirement(
    "KIP98-READ-02",
    statement="Of transactions that overlap, a read_committed consumer delivers the records of the committed ones.",
    plans={"P1": TWO, "P2": THREE},
    refuted_by=(*SHOWN, OtherClient(client="kafkajs:2.2.4", anomaly="aborted-is-shown")),
)
