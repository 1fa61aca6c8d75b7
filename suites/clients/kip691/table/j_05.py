"""KIP691-J-05: a member of the group that is fenced.

KIP-691 suggests that these become fatal; Kafka never did that (``TxnOffsetCommitHandler``).
"""

from harness.contract import KafkaError, LyingClient, Source
from suites.clients.forms.error_cells import abortable
from suites.clients.forms.error_requirement import error_requirement

CODES = (KafkaError.FENCED_INSTANCE_ID, KafkaError.UNKNOWN_MEMBER_ID, KafkaError.ILLEGAL_GENERATION)
CASES = abortable("TxnOffsetCommit", *CODES)

REQUIREMENT = error_requirement(
    "KIP691-J-05",
    source=Source(691, "Motivation: table of exceptions, FencedInstanceIdException and CommitFailedException"),
    statement="After its group has fenced the member whose offsets it sends, a producer aborts and goes on.",
    cases=CASES,
    refuted_by=(
        LyingClient(lie="never-comes-back", anomaly="not-abortable"),
        LyingClient(lie="misclassifies", anomaly="class-is-not-so"),
    ),
)
