"""The anomalies that a judge of chaos histories may name, and the words that they rest on.

*Segment*: the records of one producer id on one partition between two of its control markers in the raw log; it is
committed, aborted or open by the marker that ends it. A segment *belongs to* the transaction of its records; where it
has records of several, to the one that began last. A record that is not transactional is committed by itself.
*Committed log*: the records of committed segments, in offset order. *View*: what a reader delivered (the committed log
is a view itself, called ``log``); a view is judged for what is missing only below the offset to which it came.
*Promised*: a record whose ``produce`` was done, of a transaction whose ``commit`` was done. An unsure commit promises
all or nothing, an unsure produce promises nothing.

One cause has one name: the first that fits, in the order below. A reader is accused only of what the log does not
explain: a record that the log itself commits wrongly, or lacks, is the log's anomaly, not that of everyone who read it.
What a reader owes is the committed log below its end, whatever was promised. A reader of kind ``actor``, or one that no
row of ``readers`` tells of, stops anywhere and reads again: nothing is missing for it, and an offset twice is no
duplicate. Readers of ``read_uncommitted`` deliver no dirty and no aborted reads. Of a partition whose log does not
reach its high watermark nothing is said to be missing or open; the check is undecided. What lies below a partition's
log start is not missing.
"""

from collections.abc import Mapping

ANOMALIES: Mapping[str, str] = {
    # What is there and must not be, record by record
    "unknown-record": "a view has a record that no operation of the history wrote to that partition",
    "altered-record": "a record's payload or size is not the one that was written",
    "dirty-read": (
        "a reader delivered a record of an open segment, or one that the log has nowhere although it was not promised"
    ),
    "aborted-read": "a reader delivered a record of an aborted segment",
    "fenced-but-visible": (
        "the committed log has a record whose produce was refused by fencing (INVALID_PRODUCER_EPOCH, PRODUCER_FENCED, "
        "INVALID_PRODUCER_ID_MAPPING), or began after a newer init of its transactional id by another actor was done"
    ),
    "fenced-but-acknowledged": (
        "a produce, or the commit of a transaction with acknowledged writes, was done though it began after a newer "
        "init of its transactional id by another actor was done; and nothing written behind that init is visible"
    ),
    "refused-but-visible": "the committed log has a record whose produce was refused for another reason",
    "leaked-into-next": (
        "the committed log has a record in a segment that belongs to another transaction, or in a second segment of "
        "its own transaction on that partition (the one that ends later)"
    ),
    "resurrected": (
        "the committed log has a record in a segment of its own, whose transaction's commit was never asked for, was "
        "refused, or whose abort was done"
    ),
    "duplicate": (
        "a view has the same value twice; a reader that is no actor's delivered the same offset twice; the committed "
        "log has two outputs (``relay:`` payloads of one output topic) of the same input"
    ),
    "reordered": (
        "on one partition the committed log has two records of one actor in another order than their produces, the "
        "second of which began after the first had ended"
    ),
    # What is missing
    "lost-commit": (
        "the committed log has none of a transaction's promised records, those that are open left aside; a reader has "
        "none of the records that it owes of a transaction"
    ),
    "torn-transaction": (
        "the committed log has some but not all of a transaction's promised records, or of the acknowledged ones of an "
        "unsure commit; a reader has some but not all of the records that it owes of a transaction"
    ),
    # What must add up
    "broken-sum": (
        "the amounts of a transaction's money records in the committed log do not sum to 0, though everything that it "
        "produced was acknowledged and is there, and nothing above explains it"
    ),
    "offsets-without-records": (
        "a group's committed offset is past a record of an input that it relays, and the committed log has no output "
        "of it by a transaction of the group, none is open, and none that was promised is missing"
    ),
    "records-without-offsets": (
        "the committed log has the output of an input by a transaction whose ``send_offsets`` past that input was "
        "done, and the group's offset is not past it"
    ),
    # What the broker hands out
    "epoch-reuse": (
        "one producer id and epoch was handed out twice: by an ``init`` that was done, or by the ``commit`` or "
        "``abort`` that was done, of a transaction with an acknowledged write, by a client whose name ends in ``-v2``"
    ),
    "producer-id-reuse": "one producer id was handed to two transactional ids",
    # What is left
    "hanging-transaction": "after settling, a segment is open in the log, or a leader keeps an open transaction",
    "stuck-lso": "after settling, a partition's last stable offset is below its high watermark",
    "wrong-lso": (
        "after settling, the last stable offset is above the first open segment, or a Fetch after ListOffsets tells "
        "another one at the same high watermark; in the run, two samples of ``levels`` have it above the first record "
        "of a segment whose marker is not below their high watermark"
    ),
    "unavailable-after-heal": "after heal, a probe's transaction could not be brought to its end",
}
"""Every anomaly with its definition."""

FENCING = (47, 49, 90)
"""INVALID_PRODUCER_EPOCH, INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED."""

PROBE = "probe-"
"""Actors whose name begins so act after heal only, to see that the cluster serves again.

``probe-<broker>`` writes through that broker as its coordinator. A try that fails is followed, within a bound, by
``probe-<broker>.2``, ``.3`` and so on, each a transaction of its own under the same transactional id. They are one
probe: it was brought to its end when any of them has a commit that was done.
"""
