"""KIP691-L-02: INVALID_TXN_STATE of Produce.

KIP-890 expects some clients to take it for fatal; ``rd_kafka_handle_Produce_error`` makes it abortable. The
epoch stays, and so the next record has a sequence that no leader expects (``findings/librdkafka.md``).
"""

from harness.contract import KafkaError, LyingClient, Source
from suites.clients.forms.error_cells import abortable
from suites.clients.forms.error_requirement import LIBRDKAFKA, SOUND_LIBRDKAFKA, TRANSACTIONS, error_requirement

CASES = abortable("Produce", KafkaError.INVALID_TXN_STATE)

REQUIREMENT = error_requirement(
    "KIP691-L-02",
    source=Source(890, "Old Clients"),
    statement="librdkafka aborts after INVALID_TXN_STATE of Produce, and goes on.",
    cases=CASES,
    needs=(TRANSACTIONS, LIBRDKAFKA),
    client=SOUND_LIBRDKAFKA,
    refuted_by=(LyingClient(lie="never-comes-back", client=SOUND_LIBRDKAFKA, anomaly="not-abortable"),),
)
