"""librdkafka's error table: what its codes and flags mean for each verb (``rdkafka_txnmgr.c``, ``rdkafka_request.c``).

librdkafka retries by itself and reports only the last error. Whether there were tries before it, its statistics show:
see :mod:`harness.clients.librdkafka.statistics`. Codes of the broker mean what they mean to the wire client; codes
below -1 are the library's own. Its flags:

* ``retriable``: the call's time is up and librdkafka goes on in the background; what comes of it is not reported.
* ``fatal``: the producer cannot be used any more; the code is the cause, both fencing codes as ``_FENCED``.
* ``txn_requires_abort``: something in the transaction failed, often an earlier request than the one asked for.
"""

from collections.abc import Mapping

from confluent_kafka import KafkaError as LibrdkafkaError

from harness.base.kafka_error import KafkaError
from harness.clients.outcome_table import OutcomeRow, refused, unsure
from harness.clients.wire.wire_outcomes import row_of as broker_row_of
from harness.evidence.history.operation import Verb

UNLISTED = unsure("a code of librdkafka that the table does not list")
STILL_RUNNING = unsure("the time is up, and librdkafka goes on with it in the background")
NO_LONGER_WAITING = unsure("librdkafka no longer waits for a request whose end it never learnt")
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
    LibrdkafkaError._FENCED: refused("the broker fenced this producer; every later call says so again"),
    LibrdkafkaError._FATAL: refused("the producer met a fatal error before; it sends nothing any more"),
    LibrdkafkaError._UNSUPPORTED_FEATURE: refused("the broker lacks a feature that this needs"),
    LibrdkafkaError._AUTHENTICATION: refused("authentication failed; nothing is sent without it"),
    LibrdkafkaError._STATE: refused("not valid in the state that the transaction is in; nothing was sent"),
    LibrdkafkaError._CONFLICT: refused("another call of this producer is still under way; this one was not begun"),
    LibrdkafkaError._PREV_IN_PROGRESS: refused(
        "an earlier call of this producer has to be resumed first; this one was not begun"
    ),
    LibrdkafkaError._TIMED_OUT: STILL_RUNNING,
    LibrdkafkaError._INVALID_ARG: refused("an argument is not valid; nothing was sent"),
    LibrdkafkaError._ALL_BROKERS_DOWN: NO_LONGER_WAITING,
    LibrdkafkaError._TRANSPORT: NO_LONGER_WAITING,
    LibrdkafkaError._FAIL: NO_LONGER_WAITING,
    LibrdkafkaError._DESTROY: NO_LONGER_WAITING,
}
_PRODUCE: Mapping[int, OutcomeRow] = {
    **_LOCAL,
    LibrdkafkaError._GAPLESS_GUARANTEE: unsure("a record before it was lost, and this one may have been sent"),
    LibrdkafkaError._PURGE_INFLIGHT: unsure("the record was given up after it had been sent"),
    LibrdkafkaError._PURGE_QUEUE: refused("the record was given up before it was sent"),
    LibrdkafkaError._TIMED_OUT_QUEUE: unsure("the record's time was up in the queue, perhaps after an earlier try"),
    LibrdkafkaError._OUTDATED: unsure("the answer came after the transaction was over"),
    LibrdkafkaError._QUEUE_FULL: refused("the local queue is full; nothing was sent"),
    LibrdkafkaError._UNKNOWN_TOPIC: refused("the topic is not known; nothing was sent"),
    LibrdkafkaError._UNKNOWN_PARTITION: refused("the partition is not known; nothing was sent"),
    LibrdkafkaError._MSG_TIMED_OUT: unsure("message.timeout.ms is up; the record may have been written"),
}
_END: Mapping[int, OutcomeRow] = {
    **_LOCAL,
    LibrdkafkaError._INCONSISTENT: refused("a record of the transaction was not delivered: EndTxn is not sent"),
    LibrdkafkaError._OUTDATED: unsure("the answer came after the transaction was over"),
}
_CONSUMING: Mapping[int, OutcomeRow] = {
    **_LOCAL,
    LibrdkafkaError._AUTO_OFFSET_RESET: refused("there is no committed offset, and none may be chosen"),
    LibrdkafkaError._ASSIGNMENT_LOST: refused("the group gave our partitions to others"),
    LibrdkafkaError._MAX_POLL_EXCEEDED: refused("max.poll.interval.ms is up: the group goes on without us"),
    LibrdkafkaError._TIMED_OUT: refused("nothing was assigned in time"),
    LibrdkafkaError._ALL_BROKERS_DOWN: refused("no broker can be reached"),
    LibrdkafkaError._UNKNOWN_TOPIC: refused("the topic is not known"),
    LibrdkafkaError._TRANSPORT: refused("the connection was lost"),
}
TABLES: Mapping[Verb, Mapping[int, OutcomeRow]] = {
    "init": _LOCAL,
    "begin": _LOCAL,
    "produce": _PRODUCE,
    "send_offsets": _LOCAL,
    "commit": _END,
    "abort": _END,
    "subscribe": _CONSUMING,
    "poll": _CONSUMING,
}
"""The library's own codes, by verb."""


def row_of(verb: Verb, code: int, *, retriable: bool) -> OutcomeRow:
    """The row of an error; :data:`UNLISTED` for a code of the library that is not listed.

    >>> row_of("commit", LibrdkafkaError._INCONSISTENT, retriable=False).outcome
    <Outcome.REFUSED: 'refused'>
    """
    own = TABLES[verb].get(code)
    if retriable and code not in (LibrdkafkaError._CONFLICT, LibrdkafkaError._PREV_IN_PROGRESS):
        return STILL_RUNNING
    if own is not None:
        return own
    return broker_row_of(API_OF[verb], code) if code >= -1 and verb in API_OF else UNLISTED


def kafka_code(code: int) -> int | None:
    """Kafka's code for the history; None for the library's own, save ``_FENCED``.

    The library makes ``_FENCED`` of PRODUCER_FENCED and of INVALID_PRODUCER_EPOCH alike; the history gets the former.

    >>> kafka_code(LibrdkafkaError._FENCED), kafka_code(LibrdkafkaError._MSG_TIMED_OUT), kafka_code(45)
    (90, None, 45)
    """
    if code == LibrdkafkaError._FENCED:
        return KafkaError.PRODUCER_FENCED.value
    return code if code >= -1 else None
