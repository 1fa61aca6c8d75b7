"""KIP691-L-08: errors of InitProducerId.

Those of ``rd_kafka_idemp_check_error`` are fatal; any other is retried (``rd_kafka_idemp_request_pid_failed``).
"""

from harness.contract import KafkaError, LyingClient, Source
from suites.clients.forms.error_cells import fatal, retried
from suites.clients.forms.error_requirement import LIBRDKAFKA, SOUND_LIBRDKAFKA, TRANSACTIONS, error_requirement

REFUSED = (
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.PRODUCER_FENCED,
    KafkaError.INVALID_TRANSACTION_TIMEOUT,
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
)
LATER = (
    KafkaError.CONCURRENT_TRANSACTIONS,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
)
CASES = (*fatal("InitProducerId", *REFUSED), *retried("InitProducerId", *LATER))

REQUIREMENT = error_requirement(
    "KIP691-L-08",
    source=Source(588, "InitProducerId"),
    statement="librdkafka gives up when its id is refused, and asks again when its coordinator cannot serve it yet.",
    cases=CASES,
    needs=(TRANSACTIONS, LIBRDKAFKA),
    client=SOUND_LIBRDKAFKA,
    refuted_by=(LyingClient(lie="swallows-fence", client=SOUND_LIBRDKAFKA, anomaly="not-fatal"),),
)
