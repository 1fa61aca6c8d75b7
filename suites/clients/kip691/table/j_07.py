"""KIP691-J-07: PRODUCER_FENCED of every coordinator; KIP691-J-03 has that of Produce."""

from harness.contract import KafkaError, LyingClient, OtherClient, Source
from suites.clients.forms.error_cells import fatal
from suites.clients.forms.error_requirement import error_requirement

CODE = KafkaError.PRODUCER_FENCED
CASES = (
    *fatal("TxnOffsetCommit", CODE),
    *fatal("EndTxn", CODE),
    *fatal("EndTxn", CODE, ending="abort"),
    *fatal("AddPartitionsToTxn", CODE),
    *fatal("AddOffsetsToTxn", CODE),
    *fatal("InitProducerId", CODE),
)

REQUIREMENT = error_requirement(
    "KIP691-J-07",
    source=Source(691, "Motivation: table of exceptions, ProducerFencedException"),
    statement="A producer that a coordinator calls fenced commits nothing more; a new instance does.",
    cases=CASES,
    refuted_by=(
        OtherClient(client="librdkafka", anomaly="not-fatal"),
        LyingClient(lie="goes-on-after-fatal", anomaly="not-fatal"),
    ),
)
