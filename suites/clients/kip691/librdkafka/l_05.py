"""KIP691-L-05: errors of coordinators that are fatal.

Those of ``rdkafka_txnmgr.c``: PRODUCER_FENCED is not among them for AddOffsetsToTxn and TxnOffsetCommit, and aborts
there (KIP691-J-07 has what the KIP says).
"""

from harness.contract import KafkaError, LyingClient, Source
from suites.clients.forms.error_cells import fatal
from suites.clients.forms.error_requirement import LIBRDKAFKA, SOUND_LIBRDKAFKA, TRANSACTIONS, error_requirement

CODES = (
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.INVALID_TXN_STATE,
)
FENCED, FORMAT = KafkaError.PRODUCER_FENCED, KafkaError.UNSUPPORTED_FOR_MESSAGE_FORMAT
CASES = (
    *fatal("AddPartitionsToTxn", FENCED, *CODES),
    *fatal("AddOffsetsToTxn", *CODES, FORMAT),
    *fatal("TxnOffsetCommit", *CODES, FORMAT),
    *fatal("EndTxn", FENCED, *CODES),
    *fatal("FindCoordinator", *CODES[1:3]),
)

REQUIREMENT = error_requirement(
    "KIP691-L-05",
    source=Source(691, "Motivation: table of exceptions, as librdkafka has it"),
    statement="librdkafka commits nothing more after a coordinator has refused the producer, its rights or its state.",
    cases=CASES,
    needs=(TRANSACTIONS, LIBRDKAFKA),
    client=SOUND_LIBRDKAFKA,
    refuted_by=(LyingClient(lie="goes-on-after-fatal", anomaly="not-fatal", client=SOUND_LIBRDKAFKA),),
)
