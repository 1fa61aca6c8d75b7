"""KIP691-J-23: the right to the transactional id is missing at first.

KIP-691 calls that fatal; Java lets ``initTransactions`` be called again from 3.6 on (``InitProducerIdHandler``,
``Sender.shouldHandleAuthorizationError``). The gate refuses InitProducerId as a coordinator does that knows no right.
"""

from harness.contract import KafkaError, Library, OtherClient, Source
from suites.clients.forms.error_cells import JAVA, abortable
from suites.clients.forms.error_requirement import TRANSACTIONS, error_requirement

CASES = abortable("InitProducerId", KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)

REQUIREMENT = error_requirement(
    "KIP691-J-23",
    source=Source(691, "Motivation: table of exceptions, TransactionalAuthorizationException"),
    statement="An instance that had no right to its id is initialised once it has it.",
    cases=CASES,
    needs=(TRANSACTIONS, Library(JAVA)),
    refuted_by=(OtherClient(client="java:3.5.2", anomaly="not-abortable"),),
)
