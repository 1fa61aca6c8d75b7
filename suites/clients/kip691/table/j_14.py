"""KIP691-J-14: errors of coordinators that pass by themselves.

TxnOffsetCommit gives CONCURRENT_TRANSACTIONS since Kafka 3.8; Java before 3.8 calls that unexpected, and fatal
(``TxnOffsetCommitHandler``).
"""

from harness.contract import KafkaError, OtherClient, Source
from suites.clients.forms.error_cells import retried
from suites.clients.forms.error_requirement import error_requirement

CODES = (
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
)
CONCURRENT, UNKNOWN_TOPIC = KafkaError.CONCURRENT_TRANSACTIONS, KafkaError.UNKNOWN_TOPIC_OR_PARTITION
CASES = (
    *retried("TxnOffsetCommit", CONCURRENT, UNKNOWN_TOPIC, KafkaError.REQUEST_TIMED_OUT, *CODES),
    *retried("EndTxn", CONCURRENT, *CODES),
    *retried("EndTxn", CONCURRENT, *CODES, ending="abort"),
    *retried("AddPartitionsToTxn", CONCURRENT, UNKNOWN_TOPIC, *CODES),
    *retried("AddOffsetsToTxn", CONCURRENT, *CODES),
    *retried("FindCoordinator", *CODES[:2], of_group=True),
    *retried("FindCoordinator", *CODES[:2]),
    *retried("InitProducerId", CONCURRENT, *CODES),
)

REQUIREMENT = error_requirement(
    "KIP691-J-14",
    source=Source(890, "Proposed Changes: retriable errors of TxnOffsetCommit"),
    statement="A request that its coordinator cannot serve yet is sent again, and the transaction goes on.",
    cases=CASES,
    refuted_by=(OtherClient(client="java:3.7.2", anomaly="not-retried"),),
)
