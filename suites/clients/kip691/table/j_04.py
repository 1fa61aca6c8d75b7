"""KIP691-J-04: topic and group authorization.

KIP-691 suggests that these become fatal; Kafka never did that. TxnOffsetCommit with TOPIC_AUTHORIZATION_FAILED is an
unexpected error to Java (``TxnOffsetCommitHandler``), and so fatal there. Produce is last of its protocol, because
librdkafka then refuses the topic for good (``rd_kafka_topic_set_error``).
"""

from harness.contract import KafkaError, Library, LyingClient, OtherClient, Source
from suites.clients.forms.error_cells import ABORTABLE, FATAL, JAVA, abortable, cells
from suites.clients.forms.error_requirement import error_requirement

TOPIC, GROUP = KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.GROUP_AUTHORIZATION_FAILED
EITHER = (ABORTABLE, FATAL)
CASES = (
    *abortable("AddPartitionsToTxn", TOPIC, second=True),
    *abortable("AddPartitionsToTxn", TOPIC),
    *abortable("AddOffsetsToTxn", GROUP),
    *abortable("TxnOffsetCommit", GROUP),
    *cells("TxnOffsetCommit", TOPIC, behaves=EITHER, but=((Library(JAVA), (FATAL,)),)),
    *abortable("FindCoordinator", GROUP, of_group=True, times=None),
    *abortable("Produce", TOPIC),
)

REQUIREMENT = error_requirement(
    "KIP691-J-04",
    source=Source(691, "Motivation: table of exceptions, TopicAuthorizationException and GroupAuthorizationException"),
    statement="After a missing right to a topic or a group the transaction is aborted, and the same producer goes on.",
    cases=CASES,
    refuted_by=(
        OtherClient(client="librdkafka", anomaly="not-abortable"),
        LyingClient(lie="never-comes-back", anomaly="not-abortable"),
    ),
)
