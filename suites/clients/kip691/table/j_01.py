"""KIP691-J-01: retriable errors of Produce.

CONCURRENT_TRANSACTIONS comes from Produce v12 on; to older versions a leader answers NOT_ENOUGH_REPLICAS (KIP-890).
"""

from harness.contract import KafkaError, OtherClient, Source
from suites.clients.forms.error_cells import retried
from suites.clients.forms.error_requirement import error_requirement

CODES = (
    KafkaError.CORRUPT_MESSAGE,
    KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
    KafkaError.NOT_LEADER_OR_FOLLOWER,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.NOT_ENOUGH_REPLICAS,
    KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
)
CASES = (*retried("Produce", *CODES), *retried("Produce", KafkaError.CONCURRENT_TRANSACTIONS, lowest=12))

REQUIREMENT = error_requirement(
    "KIP691-J-01",
    source=Source(691, "Motivation: table of exceptions, errors of Produce that are not fatal"),
    statement="A Produce that fails with a retriable error is sent again, and the transaction goes on.",
    cases=CASES,
    refuted_by=(OtherClient(client="franz-go", anomaly="not-retried"),),
)
