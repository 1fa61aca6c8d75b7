"""librdkafka's error table: what its codes and flags mean for each verb (``rdkafka_txnmgr.c``, ``rdkafka_request.c``).

librdkafka retries by itself and tells only the last error, so an error says nothing about tries before it. Whether
there were any is counted beside this table, in its statistics: see :mod:`harness.clients.librdkafka.statistics`. Codes
of the broker mean what they mean to the wire client; codes below zero are the library's own:

* ``retriable``: the call's time is up and librdkafka goes on in the background; what comes of it is not told.
* ``fatal``: the producer is finished; the code says why, both fencing codes as ``_FENCED``.
* ``txn_requires_abort``: something in the transaction failed, often an earlier request than the one asked for.
"""

from collections.abc import Mapping

from harness.clients.outcome_table import OutcomeRow, refused, unsure
from harness.clients.wire.wire_outcomes import row_of as broker_row_of
from harness.evidence.operation import Verb

FENCED = -144
PRODUCER_FENCED = 90
"""What the history is told for ``_FENCED``, which the library makes of it and of INVALID_PRODUCER_EPOCH alike."""

UNLISTED = unsure("a code of librdkafka that the table does not list")
GOES_ON = unsure("the time is up, and librdkafka goes on with it in the background")
UNTOLD = unsure("librdkafka no longer waits for a request whose end it never learnt")
NOT_TAKEN = "librdkafka did not take it: nothing was queued or sent"

API_OF: Mapping[Verb, str] = {
    "init": "InitProducerId",
    "produce": "Produce",
    "send_offsets": "TxnOffsetCommit",
    "commit": "EndTxn",
    "abort": "EndTxn",
    "subscribe": "JoinGroup",
    "poll": "Fetch",
}
"""The request by which a verb has its effect."""

_LOCAL: Mapping[int, OutcomeRow] = {
    FENCED: refused("the broker fenced this producer; every later call says so again"),
    -150: refused("the producer met a fatal error before; it sends nothing any more"),
    -165: refused("the broker lacks a feature that this needs"),
    -169: refused("authentication failed; nothing is sent without it"),
    -172: refused("not valid in the state that the transaction is in; nothing was sent"),
    -173: refused("another call of this producer is still under way; this one was not begun"),
    -177: refused("an earlier call of this producer has to be resumed first; this one was not begun"),
    -185: GOES_ON,
    -186: refused("an argument is not valid; nothing was sent"),
    -187: UNTOLD,
    -195: UNTOLD,
    -196: UNTOLD,
    -197: UNTOLD,
}
_PRODUCE: Mapping[int, OutcomeRow] = {
    **_LOCAL,
    -148: unsure("a record before it was lost, and this one may have been sent"),
    -151: unsure("the record was given up after it had been sent"),
    -152: refused("the record was given up before it was sent"),
    -166: unsure("the record's time was up in the queue, perhaps after an earlier try"),
    -167: unsure("the answer came after the transaction was over"),
    -184: refused("the local queue is full; nothing was sent"),
    -188: refused("the topic is not known; nothing was sent"),
    -190: refused("the partition is not known; nothing was sent"),
    -192: unsure("message.timeout.ms is up; the record may have been written"),
}
_END: Mapping[int, OutcomeRow] = {
    **_LOCAL,
    -149: refused("a record of the transaction was not delivered: EndTxn is not sent"),
    -167: unsure("the answer came after the transaction was over"),
}
_READING: Mapping[int, OutcomeRow] = {
    **_LOCAL,
    -140: refused("there is no committed offset, and none may be chosen"),
    -142: refused("the group gave our partitions to others"),
    -147: refused("max.poll.interval.ms is up: the group goes on without us"),
    -185: refused("nothing was assigned in time"),
    -187: refused("no broker can be reached"),
    -188: refused("the topic is not known"),
    -195: refused("the connection was lost"),
}
TABLES: Mapping[Verb, Mapping[int, OutcomeRow]] = {
    "init": _LOCAL,
    "begin": _LOCAL,
    "produce": _PRODUCE,
    "send_offsets": _LOCAL,
    "commit": _END,
    "abort": _END,
    "subscribe": _READING,
    "poll": _READING,
}
"""The library's own codes, by verb."""


def row_of(verb: Verb, code: int, *, retriable: bool) -> OutcomeRow:
    """The row of an error; :data:`UNLISTED` for a code of the library that nobody listed.

    >>> row_of("commit", -149, retriable=False).outcome
    <Outcome.REFUSED: 'refused'>
    """
    own = TABLES[verb].get(code)
    if retriable and code not in (-173, -177):
        return GOES_ON
    if own is not None:
        return own
    return broker_row_of(API_OF[verb], code) if code >= -1 and verb in API_OF else UNLISTED


def told_code(code: int) -> int | None:
    """The code for the history: Kafka's own, ``_FENCED`` as PRODUCER_FENCED, None for any other of the library's.

    >>> told_code(-144), told_code(-192), told_code(45)
    (90, None, 45)
    """
    if code == FENCED:
        return PRODUCER_FENCED
    return code if code >= -1 else None
