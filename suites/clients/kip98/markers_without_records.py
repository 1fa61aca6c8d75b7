"""KIP98-READ-04: markers are no records: not delivered, and passed wherever they stand.

A transaction to which a partition was added, and nothing written, leaves a marker alone there, and an ABORT marker
without records has no entry in the list of aborted transactions. Such markers stand at the beginning of a log, in a row
within it and in a row at its end; aborted records of the same producer come after them in the same fetch, whose entry
the markers before must not use up; one log has nothing but markers. The Java client
passes a control batch as it passes any other (``CompletedFetch.nextFetchedRecord``: ``nextFetchOffset``), so that its
position is then the last stable offset; a position that stays before them is a finding of level SHOULD.

The catalogue has no ids for what a reader keeps; see the package.
"""

from harness.contract.clients.log_plan import aborts, commits, wrote
from suites.clients.forms.reading_requirement import SHOWN, reading_requirement

ROWS = (
    commits("A"),
    aborts("B"),
    aborts("A"),
    wrote("A", "a1"),
    aborts("B"),
    commits("B"),
    wrote("A", "a2"),
    commits("A"),
    aborts("A"),
    wrote("B", "b1", "b2"),
    aborts("B"),
    wrote("B", "b3"),
    commits("A"),
    commits("B"),
    aborts("B"),
    commits("A"),
    aborts("A"),
)
ALONE = (commits("A"), aborts("A"), commits("A"))

REQUIREMENT = reading_requirement(
    "KIP98-READ-04",
    statement="Markers are not delivered, whether or not a transaction has records, and do not end the reading.",
    plans={"P1": ROWS, "P2": ALONE},
    refuted_by=SHOWN,
)
