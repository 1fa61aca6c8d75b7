"""KIP691-L-03: INVALID_PRODUCER_ID_MAPPING.

KIP-890 says that librdkafka takes it for fatal; ``rdkafka_txnmgr.c`` does so of TxnOffsetCommit alone, and bumps the
epoch after AddPartitionsToTxn and EndTxn. A coordinator that does not know the id says so to EndTxn as well.
"""

from harness.contract import KafkaError, LyingClient, Source
from suites.clients.forms.error_cells import abortable, fatal
from suites.clients.forms.error_requirement import LIBRDKAFKA, SOUND_LIBRDKAFKA, TRANSACTIONS, error_requirement

CODE = KafkaError.INVALID_PRODUCER_ID_MAPPING
CASES = (
    *abortable("Produce", CODE),
    *abortable("AddPartitionsToTxn", CODE, also=("EndTxn",), bumps=True),
    *abortable("EndTxn", CODE, bumps=True),
    *abortable("AddOffsetsToTxn", CODE),
    *fatal("TxnOffsetCommit", CODE),
)

REQUIREMENT = error_requirement(
    "KIP691-L-03",
    source=Source(890, "Old Clients: INVALID_PID_MAPPING"),
    statement="librdkafka goes on after INVALID_PRODUCER_ID_MAPPING, with another epoch where need be.",
    cases=CASES,
    needs=(TRANSACTIONS, LIBRDKAFKA),
    client=SOUND_LIBRDKAFKA,
    refuted_by=(LyingClient(lie="never-comes-back", client=SOUND_LIBRDKAFKA, anomaly="not-abortable"),),
)
