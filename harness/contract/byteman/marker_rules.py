"""Rules that break what a leader does with a marker (WriteTxnMarkers), and what it answers.

Names of classes and arguments are those of Kafka 4.3.1.
"""

from harness.contract.byteman.rule_text import rule

_APPEND = "org.apache.kafka.storage.internals.log.ProducerAppendInfo"
_TYPE = "org.apache.kafka.common.record.internal.ControlRecordType"
_MESSAGE = "org.apache.kafka.common.message"
_FENCED = "org.apache.kafka.common.errors.InvalidProducerEpochException"

REFUSED_MARKERS_TOLD_AS_WRITTEN = rule(
    "a marker that was refused is told as written",
    f"{_MESSAGE}.WriteTxnMarkersResponseData$WritableTxnMarkerPartitionResult#setErrorCode",
    "$1 = 0",
)
COMMIT_MARKER_ENDS_NOTHING = rule(
    "a commit marker is written and ends nothing",
    f"{_APPEND}#appendEndTxnMarker",
    "return java.util.Optional.empty()",
    when=f"$1.controlType() == {_TYPE}.COMMIT",
)


def _every_marker(name: str, kind: str) -> str:
    place = "org.apache.kafka.common.record.internal.EndTransactionMarker#<init>"
    return rule(name, place, f"$1 = {_TYPE}.{kind}")


MARKERS_COMMIT = _every_marker("every marker commits", "COMMIT")
MARKERS_ABORT = _every_marker("every marker aborts", "ABORT")
REPEATED_MARKERS_REFUSED = rule(
    "a marker in the epoch of the one before it is refused, although nothing is open",
    f"{_APPEND}#checkProducerEpoch",
    f'throw new {_FENCED}("not newer")',
    when="$3 >= 2 AND $1 <= $0.updatedEntry.producerEpoch()",
)
MARKERS_OF_ANY_VERSION_ARE_OLD = rule(
    "every marker is compared as one of transaction version 0, for which an equal epoch is enough",
    f"{_APPEND}#appendEndTxnMarker",
    '$5 = java.lang.Short.parseShort("0")',
    when="$5 >= 2",
)
_RECORDS = "org.apache.kafka.common.record.internal"
_WRITTEN = f"{_RECORDS}.MemoryRecords#withEndTransactionMarker(long, short, {_RECORDS}.EndTransactionMarker)"
MARKERS_WRITTEN_IN_EPOCH_1 = rule(
    "a marker is written in epoch 1, whatever epoch it has",
    _WRITTEN,
    '$2 = java.lang.Short.parseShort("1")',
)
MARKERS_REFUSED = rule(
    "every marker is told as refused",
    f"{_MESSAGE}.WriteTxnMarkersResponseData$WritableTxnMarkerPartitionResult#setErrorCode",
    "$1 = org.apache.kafka.common.protocol.Errors.INVALID_REQUEST.code()",
)
EVERY_OTHER_COMMIT_MARKER_ABORTS = rule(
    "of the commit markers that a leader writes every other one is an abort marker",
    _WRITTEN,
    f"$3 = new {_RECORDS}.EndTransactionMarker({_TYPE}.ABORT, $3.coordinatorEpoch())",
    when=f'$3.controlType() == {_TYPE}.COMMIT AND incrementCounter("commit markers") % 2 == 0',
)
FIRST_MARKER_TOLD_AS_LATE = rule(
    "a leader tells of the first marker that it writes that this took too long",
    f"{_MESSAGE}.WriteTxnMarkersResponseData$WritableTxnMarkerPartitionResult#setErrorCode",
    "$1 = org.apache.kafka.common.protocol.Errors.REQUEST_TIMED_OUT.code()",
    when='$1 == 0 AND flag("first marker told as late")',
)
