"""KIP691-L-01: NOT_ENOUGH_REPLICAS, with which a leader answers while it asks the coordinator (KIP-890)."""

from harness.contract import KafkaError, Source
from suites.clients.forms.error_cells import retried
from suites.clients.forms.error_requirement import LIBRDKAFKA, SOUND_LIBRDKAFKA, TRANSACTIONS, error_requirement

CASES = retried("Produce", KafkaError.NOT_ENOUGH_REPLICAS)

REQUIREMENT = error_requirement(
    "KIP691-L-01",
    source=Source(890, "Old Clients"),
    statement="librdkafka sends a record again that its leader could not verify yet.",
    cases=CASES,
    needs=(TRANSACTIONS, LIBRDKAFKA),
    client=SOUND_LIBRDKAFKA,
    refuted_by=(),
)
