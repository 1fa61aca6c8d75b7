"""KIP691-J-11: INVALID_PRODUCER_ID_MAPPING, abortable since KIP-360, fatal in Java from 4.0 on (KIP-890, "fatal").

A coordinator that does not know the id says so to EndTxn as well; TxnOffsetCommit is not asked about ids in this
way by Java, which calls the error unexpected (``TxnOffsetCommitHandler``).
"""

from harness.contract import KafkaError, Library, LyingClient, Source
from suites.clients.forms.error_cells import ABORTABLE, FATAL, JAVA, cells
from suites.clients.forms.error_requirement import error_requirement

CODE = KafkaError.INVALID_PRODUCER_ID_MAPPING
EITHER = (FATAL, ABORTABLE)
OF_JAVA = ((Library(JAVA, before="4.0"), (ABORTABLE,)), (Library(JAVA), (FATAL,)))
CASES = (
    *cells("Produce", CODE, behaves=EITHER, but=OF_JAVA, also=("EndTxn",), bumps=True),
    *cells("EndTxn", CODE, behaves=EITHER, but=OF_JAVA, bumps=True),
    *cells("TxnOffsetCommit", CODE, behaves=EITHER, but=((Library(JAVA), (FATAL,)),)),
    *cells("AddPartitionsToTxn", CODE, behaves=EITHER, but=OF_JAVA, also=("EndTxn",), bumps=True),
    *cells("AddOffsetsToTxn", CODE, behaves=EITHER, but=OF_JAVA, also=("EndTxn",), bumps=True),
)

REQUIREMENT = error_requirement(
    "KIP691-J-11",
    source=Source(691, "Motivation: table of exceptions, InvalidPidMappingException"),
    statement="A producer whose id is not known any more gets another identity, or commits nothing more.",
    cases=CASES,
    refuted_by=(LyingClient(lie="goes-on-after-fatal", anomaly="not-fatal"),),
)
