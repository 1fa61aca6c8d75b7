"""KIP98-READ-01: records of aborted transactions are left out between those of committed ones.

A broker sends a read_committed fetch everything below the last stable offset, aborted records too, with the list of
aborted transactions; leaving them out is the client's work (Kafka: ``CompletedFetch.nextFetchedRecord``). A producer
aborts and commits in turn, in batches of one record and of several, so that neither the list's entry of an earlier
transaction may be used for a later one of the same producer, nor an entry be used up by the first of its batches.

The catalogue has no ids for what a reader keeps; see the package.
"""

from harness.contract.clients.log_plan import aborts, commits, wrote
from suites.clients.forms.reading_requirement import MISREADS, SHOWN, reading_requirement

FIRST_COMMITTED = (
    wrote("A", "a1", "a2"),
    commits("A"),
    wrote("A", "a3"),
    wrote("A", "a4", "a5"),
    aborts("A"),
    wrote("A", "a6"),
    wrote("A", "a7", "a8"),
    commits("A"),
    wrote("A", "a9"),
    aborts("A"),
)
FIRST_ABORTED = (
    wrote("A", "a1", "a2"),
    aborts("A"),
    wrote("A", "a3"),
    aborts("A"),
    wrote("B", "b1", "b2"),
    commits("B"),
    wrote("A", "a4"),
    commits("A"),
)

REQUIREMENT = reading_requirement(
    "KIP98-READ-01",
    statement="A read_committed consumer delivers committed records alone, whichever way its neighbours ended.",
    plans={"P1": FIRST_COMMITTED, "P2": FIRST_ABORTED},
    refuted_by=(*SHOWN, *MISREADS),
)
