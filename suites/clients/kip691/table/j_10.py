"""KIP691-J-10: TRANSACTION_ABORTABLE in every API.

Each cell says from which version of its request brokers give it (Kafka's message schemas, KIP-890). A client's
AddPartitionsToTxn never gets it; Java reads it all the same. An abort that fails so is fatal from Java 4.1 on
(``EndTxnHandler``); before, the application may abort again.
"""

from harness.contract import KafkaError, Library, LyingClient, OtherClient, Source
from suites.clients.forms.error_cells import ABORTABLE, FATAL, JAVA, abortable, cells
from suites.clients.forms.error_requirement import error_requirement

CODE = KafkaError.TRANSACTION_ABORTABLE
OLD_ABORT = ((Library(JAVA, before="4.1"), (ABORTABLE,)), (Library(JAVA), (FATAL,)))
CASES = (
    *abortable("Produce", CODE, lowest=11, bumps=True),
    *abortable("TxnOffsetCommit", CODE, lowest=4),
    *abortable("EndTxn", CODE, lowest=4),
    *cells("EndTxn", CODE, behaves=(FATAL, ABORTABLE), but=OLD_ABORT, ending="abort", lowest=4),
    *abortable("AddPartitionsToTxn", CODE),
    *abortable("AddOffsetsToTxn", CODE, lowest=4),
    *abortable("FindCoordinator", CODE, of_group=True, times=None, lowest=5),
    *abortable("FindCoordinator", CODE, lowest=5),
    *abortable("InitProducerId", CODE, lowest=5),
)

REQUIREMENT = error_requirement(
    "KIP691-J-10",
    source=Source(890, "Public Interfaces: TRANSACTION_ABORTABLE"),
    statement="TRANSACTION_ABORTABLE ends the transaction alone, whatever request it answers, but for an abort.",
    cases=CASES,
    refuted_by=(
        OtherClient(client="librdkafka", anomaly="not-abortable"),
        LyingClient(lie="never-comes-back", anomaly="not-abortable"),
    ),
)
