"""The anomalies that a judge of chaos histories may name, and the words that they rest on.

*Segment*: the records of one producer id on one partition between two of its control markers in the raw log; it is
committed, aborted or open by the marker that ends it. A segment *belongs to* the transaction of its records; where it
has records of several, to the one that began last. *Committed log*: the records of committed segments, in offset
order. *View*: what a reader delivered (the committed log is a view itself, called ``log``); a view is judged for what
is missing only below the offset to which it came. *Promised*: a record whose ``produce`` was done, of a transaction
whose ``commit`` was done. An unsure commit promises all or nothing, an unsure produce promises nothing.

One cause has one name: the first that fits, in the order below. A reader is accused only of what the log does not
explain: a record that the log itself commits wrongly is the log's anomaly, not that of everyone who read it.
"""

from collections.abc import Mapping

ANOMALIES: Mapping[str, str] = {
    # What is there and must not be, record by record
    "unknown-record": "a view has a record that no operation of the history wrote",
    "altered-record": "a record's payload or size is not the one that was written",
    "dirty-read": "a reader delivered a record of an open segment",
    "aborted-read": "a reader delivered a record of an aborted segment",
    "fenced-but-visible": (
        "the committed log has a record whose produce was refused by fencing (INVALID_PRODUCER_EPOCH, PRODUCER_FENCED, "
        "INVALID_PRODUCER_ID_MAPPING), or began after a newer init of its transactional id by another actor was done"
    ),
    "refused-but-visible": "the committed log has a record whose produce was refused for another reason",
    "leaked-into-next": (
        "the committed log has a record in a segment that belongs to another transaction, or in a second segment of "
        "its own transaction on that partition"
    ),
    "resurrected": (
        "the committed log has a record in a segment of its own, whose transaction's commit was never asked for, was "
        "refused, or whose abort was done"
    ),
    "duplicate": (
        "a view has the same value twice; a reader delivered the same offset twice; the committed log has two outputs "
        "(``relay:`` payloads of one output topic) of the same input"
    ),
    "reordered": (
        "on one partition the committed log has two records of one actor in another order than their produces, the "
        "second of which began after the first had ended"
    ),
    # What is missing
    "lost-commit": "a view has none of a transaction's promised records",
    "torn-transaction": (
        "a view has some but not all of a transaction's promised records, or of the acknowledged ones of an unsure "
        "commit"
    ),
    # What must add up
    "broken-sum": "the amounts of the committed log's money records do not sum to 0, and nothing above explains it",
    "offsets-without-records": "a group's committed offset is past an input whose output the committed log lacks",
    "records-without-offsets": "the committed log has the output of an input that the group's offset is not past",
    # What the broker hands out
    "epoch-reuse": "one producer id and epoch was handed out twice, by inits or by the ends of Transactions V2",
    "producer-id-reuse": "one producer id was handed to two transactional ids",
    # What is left
    "hanging-transaction": "after settling, a segment is open in the log, or a leader keeps an open transaction",
    "stuck-lso": "after settling, a partition's last stable offset is below its high watermark",
    "wrong-lso": "the last stable offset is above the first open segment, or the two ways of asking for it disagree",
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
