"""KIP691-J-12: UNKNOWN_PRODUCER_ID, which brokers before Kafka 2.5 give.

Java tries a record again while it does not know that the log has lost nothing of this producer
(``TransactionManager.canRetry``): so an earlier record is written, and the answer says where the log begins.
A coordinator that does not know the id says so to EndTxn as well.
"""

from harness.contract import KafkaError, LyingClient, OtherClient, Source
from suites.clients.forms.error_cells import abortable
from suites.clients.forms.error_requirement import error_requirement

CODE = KafkaError.UNKNOWN_PRODUCER_ID
CASES = (
    *abortable("Produce", CODE, second=True, log_start=0, bumps=True),
    *abortable("EndTxn", CODE, bumps=True),
    *abortable("AddPartitionsToTxn", CODE, also=("EndTxn",), bumps=True),
    *abortable("AddOffsetsToTxn", CODE, bumps=True),
)

REQUIREMENT = error_requirement(
    "KIP691-J-12",
    source=Source(691, "Motivation: table of exceptions, UnknownProducerIdException"),
    statement="A producer that a broker does not know aborts, gets another epoch, and goes on.",
    cases=CASES,
    refuted_by=(
        OtherClient(client="librdkafka", anomaly="no-epoch-bump"),
        LyingClient(lie="never-comes-back", anomaly="not-abortable"),
    ),
)
