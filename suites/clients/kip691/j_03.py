"""KIP691-J-03: fatal errors of Produce."""

from harness.contract import KafkaError, LyingClient, Source
from harness.contract.clients.error_case import Behaviour, ErrorCase
from suites.clients.forms.error_requirement import error_requirement

CODES = (
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    KafkaError.PRODUCER_FENCED,
    KafkaError.UNSUPPORTED_VERSION,
)
CASES = tuple(ErrorCase(api="Produce", error=code, behaves=(Behaviour.FATAL,)) for code in CODES)

REQUIREMENT = error_requirement(
    "KIP691-J-03",
    source=Source(691, "Proposed Changes: error table, fatal errors"),
    statement="After an error of Produce that is fatal the producer commits nothing more; a new instance does.",
    cases=CASES,
    refuted_by=(
        LyingClient(lie="goes-on-after-fatal", anomaly="not-fatal"),
        LyingClient(lie="misclassifies", anomaly="class-is-not-so"),
    ),
)
