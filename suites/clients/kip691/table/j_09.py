"""KIP691-J-09: errors of Produce that are neither retried nor fatal; INVALID_TXN_STATE is KIP-890's, for old clients.

KIP-691 counts UNSUPPORTED_FOR_MESSAGE_FORMAT as fatal; Java does not
(``TransactionManager.maybeTransitionToErrorState``).
"""

from harness.contract import KafkaError, Library, LyingClient, OtherClient, Source
from suites.clients.forms.error_cells import ABORTABLE, FATAL, JAVA, abortable, cells
from suites.clients.forms.error_requirement import error_requirement

CODES = (
    KafkaError.INVALID_TXN_STATE,
    KafkaError.INVALID_TOPIC_EXCEPTION,
    KafkaError.RECORD_LIST_TOO_LARGE,
    KafkaError.INVALID_REQUIRED_ACKS,
    KafkaError.INVALID_RECORD,
)
FORMAT = KafkaError.UNSUPPORTED_FOR_MESSAGE_FORMAT
CASES = (
    *abortable("Produce", *CODES, bumps=True),
    *cells("Produce", FORMAT, behaves=(ABORTABLE, FATAL), but=((Library(JAVA), (ABORTABLE,)),)),
)

REQUIREMENT = error_requirement(
    "KIP691-J-09",
    source=Source(691, "Motivation: table of exceptions, errors of Produce that are not fatal; KIP-890, Old Clients"),
    statement="After a leader has refused a record for good, the same producer aborts and goes on.",
    cases=CASES,
    refuted_by=(
        OtherClient(client="librdkafka", anomaly="not-abortable"),
        LyingClient(lie="never-comes-back", anomaly="not-abortable"),
    ),
)
