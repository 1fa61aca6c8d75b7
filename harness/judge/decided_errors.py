"""Errors of brokers that say something of a transaction's state; of every other one nothing can be concluded."""

from harness.base.kafka_error import KafkaError
from harness.evidence.history.asked_request import AskedRequest

DECIDED_OF_COMMITS = frozenset(
    {
        KafkaError.INVALID_PRODUCER_EPOCH,
        KafkaError.INVALID_PRODUCER_ID_MAPPING,
        KafkaError.INVALID_TXN_STATE,
        KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER,
        KafkaError.PRODUCER_FENCED,
        KafkaError.TRANSACTION_ABORTABLE,
    }
)
"""To a commit that comes between the fence of its producer and the abort that the fence is for, UNKNOWN_SERVER_ERROR is
the answer, whatever was open (``TransactionMetadata.prepareTransitionTo``;
``suites/chaos/findings/commit-while-fenced.md``)."""
DECIDED = DECIDED_OF_COMMITS | {KafkaError.UNKNOWN_SERVER_ERROR}
"""To any other request that must have a reason which the model knows."""
DECIDED_WHEN_ASKED = frozenset(
    {KafkaError.INVALID_REQUEST, KafkaError.MESSAGE_TOO_LARGE, KafkaError.TRANSACTIONAL_ID_NOT_FOUND}
)
"""Further ones, of a request which no correct client sends."""


def decided_by(asked: AskedRequest) -> frozenset[KafkaError]:
    """Those of a request that was asked as it is."""
    commits = asked.api == "EndTxn" and asked.commit
    found = {*(DECIDED_OF_COMMITS if commits else DECIDED), *DECIDED_WHEN_ASKED}
    if asked.missing:
        found.add(KafkaError.UNKNOWN_TOPIC_OR_PARTITION)
    if asked.elsewhere:
        found.add(KafkaError.NOT_COORDINATOR)
    if asked.too_long:
        found.add(KafkaError.INVALID_TRANSACTION_TIMEOUT)
    return frozenset(found)
