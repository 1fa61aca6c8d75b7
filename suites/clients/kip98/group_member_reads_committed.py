"""KIP98-READ-12: a member of a group reads as one without a group.

A library may take another way for partitions that a group gave it: positions come from the group's committed offsets
(here none, so from the earliest), and a rebalance drops what was fetched before.

The catalogue has no ids for what a reader keeps; see the package.
"""

from harness.contract.clients.log_plan import PLAIN, aborts, commits, wrote
from suites.clients.forms.reading_requirement import SHOWN, reading_requirement

MIXED = (
    wrote("A", "a1"),
    wrote("B", "b1"),
    aborts("A"),
    wrote(PLAIN, "p1"),
    wrote("B", "b2"),
    commits("B"),
    wrote("A", "a2"),
    commits("A"),
    aborts("B"),
)
ABORTED_ALONE = (wrote("A", "a1", "a2"), aborts("A"), aborts("A"))

REQUIREMENT = reading_requirement(
    "KIP98-READ-12",
    statement="A read_committed consumer in a group delivers committed records alone.",
    plans={"P1": MIXED, "P2": ABORTED_ALONE},
    refuted_by=SHOWN,
    in_group=True,
)
