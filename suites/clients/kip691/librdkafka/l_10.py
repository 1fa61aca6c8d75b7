"""KIP691-L-10: errors that ``rdkafka_txnmgr.c`` and ``rdkafka_request.c`` do not list."""

from harness.contract import KafkaError, Source
from suites.clients.forms.error_cells import abortable
from suites.clients.forms.error_requirement import LIBRDKAFKA, TRANSACTIONS, error_requirement

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
    refuted_by=(),
)
