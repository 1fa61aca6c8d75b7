"""KIP691-J-08: coordinators that refuse the producer, its state, or for a reason that is not known.

INVALID_RECORD stands for any error that a coordinator does not give: Java's handlers call it unexpected, and fatal; of
AddPartitionsToTxn it is a partition's, and abortable. KIP691-J-16 has the exceptions.
"""

from harness.contract import KafkaError, LyingClient, OtherClient, Source
from suites.clients.forms.error_cells import abortable, fatal
from suites.clients.forms.error_requirement import error_requirement

STATE, RIGHT = KafkaError.INVALID_TXN_STATE, KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
UNEXPECTED = KafkaError.INVALID_RECORD
CASES = (
    *fatal("TxnOffsetCommit", STATE, RIGHT, KafkaError.UNSUPPORTED_FOR_MESSAGE_FORMAT),
    *fatal("EndTxn", STATE, RIGHT),
    *fatal("EndTxn", STATE, ending="abort"),
    *fatal("AddPartitionsToTxn", STATE, RIGHT),
    *fatal("AddOffsetsToTxn", STATE, RIGHT),
    *abortable("AddPartitionsToTxn", UNEXPECTED),
    *fatal("AddOffsetsToTxn", UNEXPECTED),
    *fatal("TxnOffsetCommit", UNEXPECTED),
    *fatal("EndTxn", UNEXPECTED),
    *fatal("InitProducerId", UNEXPECTED, KafkaError.INVALID_TRANSACTION_TIMEOUT),
    *fatal("FindCoordinator", RIGHT),
)

REQUIREMENT = error_requirement(
    "KIP691-J-08",
    source=Source(691, "Motivation: table of exceptions, errors of transactional requests"),
    statement="A producer whose id or state a coordinator refuses, or for a reason unknown, commits nothing more.",
    cases=CASES,
    refuted_by=(
        OtherClient(client="librdkafka", anomaly="not-fatal"),
        LyingClient(lie="goes-on-after-fatal", anomaly="not-fatal"),
    ),
)
