"""KIP691-L-06: errors of coordinators that are retried (``rdkafka_txnmgr.c``)."""

from harness.contract import KafkaError, Source
from suites.clients.forms.error_cells import retried
from suites.clients.forms.error_requirement import LIBRDKAFKA, SOUND_LIBRDKAFKA, TRANSACTIONS, error_requirement

CODES = (
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
    KafkaError.CONCURRENT_TRANSACTIONS,
)
TOPIC, LATE = KafkaError.UNKNOWN_TOPIC_OR_PARTITION, KafkaError.REQUEST_TIMED_OUT
CASES = (
    *retried("AddPartitionsToTxn", TOPIC, *CODES),
    *retried("AddOffsetsToTxn", TOPIC, LATE, *CODES),
    *retried("TxnOffsetCommit", TOPIC, LATE, *CODES),
    *retried("EndTxn", *CODES),
)

REQUIREMENT = error_requirement(
    "KIP691-L-06",
    source=Source(691, "Motivation: table of exceptions, as librdkafka has it"),
    statement="librdkafka sends a request again that its coordinator cannot serve yet.",
    cases=CASES,
    needs=(TRANSACTIONS, LIBRDKAFKA),
    client=SOUND_LIBRDKAFKA,
    refuted_by=(),
)
