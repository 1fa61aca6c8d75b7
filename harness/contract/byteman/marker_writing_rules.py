"""Rules that break how markers get from the coordinator into the log.

Names of classes and arguments are those of Kafka 4.3.1.
"""

from harness.contract.byteman.rule_text import rule

LOST_MARKERS_NOT_SENT_AGAIN = rule(
    "the coordinator does not send lost markers again",
    "kafka.coordinator.transaction.TransactionMarkerRequestCompletionHandler#onComplete",
    "return",
    when="$1.wasDisconnected()",
)
REPEATED_MARKER_REFUSED = rule(
    "the leader refuses a marker that it has written already, as KAFKA-19999",
    "org.apache.kafka.storage.internals.log.ProducerAppendInfo#appendEndTxnMarker",
    'throw new org.apache.kafka.common.errors.InvalidProducerEpochException("repeated")',
    when="$0.updatedEntry.producerEpoch() == $2 AND !$0.updatedEntry.currentTxnFirstOffset().isPresent()",
)
