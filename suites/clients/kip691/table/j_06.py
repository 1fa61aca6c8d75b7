"""KIP691-J-06: INVALID_PRODUCER_EPOCH, abortable from a partition's leader, fatal from coordinators (KIP-588)."""

from harness.contract import KafkaError, LyingClient, OtherClient, Source
from suites.clients.forms.error_cells import abortable, fatal
from suites.clients.forms.error_requirement import error_requirement

CODE = KafkaError.INVALID_PRODUCER_EPOCH
CASES = (
    *abortable("Produce", CODE, bumps=True),
    *fatal("TxnOffsetCommit", CODE),
    *fatal("EndTxn", CODE),
    *fatal("EndTxn", CODE, ending="abort"),
    *fatal("AddPartitionsToTxn", CODE),
    *fatal("AddOffsetsToTxn", CODE),
    *fatal("InitProducerId", CODE),
)

REQUIREMENT = error_requirement(
    "KIP691-J-06",
    source=Source(691, "Motivation: table of exceptions, InvalidProducerEpochException"),
    statement="INVALID_PRODUCER_EPOCH of Produce ends the transaction alone; of a coordinator it ends the producer.",
    cases=CASES,
    refuted_by=(
        OtherClient(client="librdkafka", anomaly="not-abortable"),
        LyingClient(lie="goes-on-after-fatal", anomaly="not-fatal"),
    ),
)
