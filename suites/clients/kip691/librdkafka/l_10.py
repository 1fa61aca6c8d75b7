"""KIP691-L-10: errors that ``rdkafka_txnmgr.c`` and ``rdkafka_request.c`` do not list.

After Produce and AddPartitionsToTxn the abort does not do what it is for (``findings/librdkafka.md``).
"""

from harness.contract import KafkaError, LyingClient, Source
from suites.clients.forms.error_cells import abortable
from suites.clients.forms.error_requirement import LIBRDKAFKA, SOUND_LIBRDKAFKA, TRANSACTIONS, error_requirement

CODES = (KafkaError.TRANSACTION_ABORTABLE, KafkaError.INVALID_RECORD)
CASES = (
    *abortable("Produce", *CODES),
    *abortable("AddPartitionsToTxn", *CODES),
    *abortable("AddPartitionsToTxn", *CODES, second=True),
    *abortable("AddOffsetsToTxn", *CODES),
    *abortable("TxnOffsetCommit", *CODES),
    *abortable("EndTxn", *CODES),
)

REQUIREMENT = error_requirement(
    "KIP691-L-10",
    source=Source(691, "Motivation: table of exceptions, as librdkafka has it"),
    statement="librdkafka aborts after an error that it does not know, and goes on.",
    cases=CASES,
    needs=(TRANSACTIONS, LIBRDKAFKA),
    client=SOUND_LIBRDKAFKA,
    refuted_by=(LyingClient(lie="never-comes-back", client=SOUND_LIBRDKAFKA, anomaly="not-abortable"),),
)
