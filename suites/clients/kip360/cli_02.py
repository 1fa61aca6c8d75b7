"""KIP360-CLI-02: a coordinator that does not know the producer id (49) is no end for a client of KIP-360.

KIP-360, "InvalidProducerIdMapping": the transaction is aborted, and InitProducerId gives a new identity. Java took that
back in 4.0, where ``TransactionManager`` makes 49 fatal (KIP-890; ``AddPartitionsToTxnHandler``, ``EndTxnHandler``).
A coordinator that does not know the id says so to the abort as well.
"""

from harness.contract import KafkaError, Library, OtherClient, Source
from harness.contract.clients.error_case import Behaviour, ErrorCase
from suites.clients.forms.error_requirement import error_requirement

SINCE_4 = ((Library(("java",), since="4.0"), (Behaviour.FATAL,)),)
CASES = tuple(
    ErrorCase(
        api=api,
        error=KafkaError.INVALID_PRODUCER_ID_MAPPING,
        behaves=(Behaviour.ABORTABLE,),
        but=SINCE_4,
        protocol=1,
        bumps=True,
        also=("EndTxn",) if api == "AddPartitionsToTxn" else (),
    )
    for api in ("AddPartitionsToTxn", "EndTxn")
)

REQUIREMENT = error_requirement(
    "KIP360-CLI-02",
    source=Source(360, "Simplified error handling and safe epoch bumping: InvalidProducerIdMapping"),
    statement="After 49 from the coordinator a client aborts, gets a new identity, and goes on; Java since 4.0 ends.",
    cases=CASES,
    refuted_by=(OtherClient(client="kafkajs:2.2.4", anomaly="not-abortable"),),
)
