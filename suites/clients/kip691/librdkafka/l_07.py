"""KIP691-L-07: UNKNOWN_PRODUCER_ID, with KIP-360's bump of the epoch.

A coordinator that does not know the id says so to EndTxn as well.
"""

from harness.contract import KafkaError, LyingClient, Source
from suites.clients.forms.error_cells import abortable
from suites.clients.forms.error_requirement import LIBRDKAFKA, SOUND_LIBRDKAFKA, TRANSACTIONS, error_requirement

CODE = KafkaError.UNKNOWN_PRODUCER_ID
CASES = (
    *abortable("Produce", CODE, bumps=True),
    *abortable("AddPartitionsToTxn", CODE, also=("EndTxn",), bumps=True),
    *abortable("EndTxn", CODE, bumps=True),
)

REQUIREMENT = error_requirement(
    "KIP691-L-07",
    source=Source(360, "Proposed Changes: InitProducerId with the identity that the producer has"),
    statement="librdkafka aborts after UNKNOWN_PRODUCER_ID, gets another epoch, and goes on.",
    cases=CASES,
    needs=(TRANSACTIONS, LIBRDKAFKA),
    client=SOUND_LIBRDKAFKA,
    refuted_by=(LyingClient(lie="never-comes-back", client=SOUND_LIBRDKAFKA, anomaly="not-abortable"),),
)
