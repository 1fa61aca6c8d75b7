"""KIP98-READ-13: a record whose key has the bytes of an ABORT marker's key is a record.

The key of an ABORT marker is four zero bytes (``ControlRecordType``: version 0, type 0), as is the number 0 written by
``IntegerSerializer``. What is a marker is told by the batch's control flag alone (``RecordBatch.isControlBatch``):
a record of an aborted transaction with that key does not end its transaction, and one of a committed one is delivered.

The catalogue has no ids for what a reader keeps; see the package.
"""

from harness.contract import OtherClient
from harness.contract.clients.log_plan import aborts, commits, wrote
from suites.clients.forms.reading_requirement import SHOWN, reading_requirement

ABORT_KEY = "\0\0\0\0"
COMMIT_KEY = "\0\0\0\1"
PLAN = (
    wrote("A", "a1", "a2", "a3", keys=("k", ABORT_KEY, "k")),
    wrote("A", "a4", keys=("k",)),
    wrote("B", "b1", "b2", keys=(ABORT_KEY, COMMIT_KEY)),
    aborts("A"),
    wrote("B", "b3", keys=("k",)),
    commits("B"),
    wrote("A", "a5", "a6", keys=(COMMIT_KEY, ABORT_KEY)),
    wrote("A", "a7", keys=("k",)),
    aborts("A"),
)

REQUIREMENT = reading_requirement(
    "KIP98-READ-13",
    statement="A read_committed consumer tells markers by the batch's control flag, and not by their keys.",
    plans={"P1": PLAN},
    refuted_by=(*SHOWN, OtherClient(client="kafkajs:2.2.4", anomaly="aborted-is-shown")),
)
