"""KIP98-READ-10: what a newer instance aborts of an older one is left out, and the newer one's own is delivered.

Both have one producer id and two epochs; the ABORT marker between them has the newer epoch or a higher one (KIP-98,
2.1: the epoch is bumped, and what was left is ended; ``TransactionCoordinator.handleInitProducerId``). The list of
aborted transactions has no epochs: what ends an entry is the marker, and not the epoch.

The catalogue has no ids for what a reader keeps; see the package.
"""

from harness.contract.clients.log_plan import TakesOver, aborts, commits, wrote
from suites.clients.forms.reading_requirement import SHOWN, reading_requirement

TAKEN_OVER = (
    wrote("old", "o1"),
    commits("old"),
    wrote("old", "o2", "o3"),
    TakesOver("new", older="old"),
    wrote("new", "n1"),
    wrote("new", "n2"),
    commits("new"),
    wrote("new", "n3"),
    TakesOver("newest", older="new"),
    wrote("newest", "w1"),
    commits("newest"),
    aborts("newest"),
)

REQUIREMENT = reading_requirement(
    "KIP98-READ-10",
    statement="Of instances of one transactional id, the records of each follow their own transaction.",
    plans={"P1": TAKEN_OVER},
    refuted_by=SHOWN,
)
