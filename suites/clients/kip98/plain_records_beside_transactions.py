"""KIP98-READ-11: records of no transaction are delivered, also between the batches of one that is aborted.

KIP-98 promises read_committed "non-transactional messages" as before, in the order of offsets. Whether a batch is
left out depends on its own flag, and not on what lies around it (Kafka: ``CompletedFetch.isBatchAborted`` asks
``batch.isTransactional()``).

The catalogue has no ids for what a reader keeps; see the package.
"""

from harness.contract.clients.log_plan import PLAIN, aborts, commits, wrote
from suites.clients.forms.reading_requirement import SHOWN, reading_requirement

MIXED = (
    wrote(PLAIN, "p1"),
    wrote("A", "a1"),
    wrote(PLAIN, "p2", "p3"),
    wrote("A", "a2"),
    aborts("A"),
    wrote(PLAIN, "p4"),
    wrote("B", "b1"),
    wrote(PLAIN, "p5"),
    commits("B"),
    wrote("A", "a3"),
    aborts("A"),
)

REQUIREMENT = reading_requirement(
    "KIP98-READ-11",
    statement="A read_committed consumer delivers records of no transaction, in order with committed ones.",
    plans={"P1": MIXED},
    refuted_by=SHOWN,
)
