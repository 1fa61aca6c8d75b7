"""KIP691-L-04: INVALID_PRODUCER_EPOCH of Produce, fatal as ``_FENCED`` (``rd_kafka_handle_Produce_error``)."""

from harness.contract import KafkaError, LyingClient, Source
from suites.clients.forms.error_cells import fatal
from suites.clients.forms.error_requirement import LIBRDKAFKA, SOUND_LIBRDKAFKA, TRANSACTIONS, error_requirement

CASES = fatal("Produce", KafkaError.INVALID_PRODUCER_EPOCH)

REQUIREMENT = error_requirement(
    "KIP691-L-04",
    source=Source(691, "Motivation: table of exceptions, as librdkafka has it"),
    statement="librdkafka commits nothing more after INVALID_PRODUCER_EPOCH of Produce.",
    cases=CASES,
    needs=(TRANSACTIONS, LIBRDKAFKA),
    client=SOUND_LIBRDKAFKA,
    refuted_by=(LyingClient(lie="goes-on-after-fatal", anomaly="not-fatal", client=SOUND_LIBRDKAFKA),),
)
