"""A request that is asked as it is, made for the wire, and what its answer tells of the transactional id."""

from collections.abc import Mapping
from typing import Any

from harness.evidence.history.asked_request import TOO_LONG_MS, AskedRequest
from harness.model.coordinator_model import described_state
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.api_results import ProducerIdAndEpoch
from harness.wire.records.record_batch import NewBatch
from harness.wire.requests.log.produce import PartitionBatch, Produce
from harness.wire.requests.transactions.add_partitions_to_txn import AddPartitionsToTxn
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions, DescribeTransactionsResult
from harness.wire.requests.transactions.end_txn import EndTxn
from harness.wire.requests.transactions.init_producer_id import InitProducerId

VALUE = "asked for"
"""Of the record of an asked Produce: none of a workload's, so that a reader who is shown it has found something."""

TOO_LARGE = 65_536
"""Bytes: four times what the topics of a round take (``harness.chaos.plan.crowd``)."""


def wire_request(asked: AskedRequest, transactional_id: str, timeout_ms: int) -> ApiRequest[ApiResult]:
    """:param timeout_ms: ``transaction.timeout.ms`` of InitProducerId; of Produce how long its leader may wait."""
    claimed: dict[str, Any] = {
        "transactional_id": transactional_id,
        "producer_id": asked.producer_id,
        "producer_epoch": asked.epoch,
    }
    match asked.api:
        case "InitProducerId":
            return InitProducerId(timeout_ms=TOO_LONG_MS if asked.too_long else timeout_ms, **claimed)
        case "AddPartitionsToTxn":
            return AddPartitionsToTxn(partitions=((asked.topic, asked.partition),), **claimed)
        case "EndTxn":
            return EndTxn(committed=asked.commit, **claimed)
        case "DescribeTransactions":
            return DescribeTransactions(transactional_id=transactional_id)
        case "Produce":
            return Produce(transactional_id=transactional_id, batches=(_batch(asked),), timeout_ms=timeout_ms)


def told_by(answer: ApiResult) -> Mapping[str, Any]:
    """Of an answer without error: fields of :class:`harness.clients.client.CallResult`."""
    match answer:
        case DescribeTransactionsResult():
            state = described_state(answer.state, answer.partitions)
            return {"producer_id": answer.producer_id, "epoch": answer.producer_epoch, "state": state}
        case ProducerIdAndEpoch() if answer.producer_id >= 0:
            return {"producer_id": answer.producer_id, "epoch": answer.producer_epoch}
        case _:
            return {}


def _batch(asked: AskedRequest) -> PartitionBatch:
    batch = NewBatch(
        values=(VALUE * (TOO_LARGE // len(VALUE)) if asked.too_large else VALUE,),
        transactional=asked.transactional,
        producer_id=asked.producer_id,
        producer_epoch=asked.epoch,
        base_sequence=asked.sequence,
    )
    return PartitionBatch(topic=asked.topic, partition=asked.partition, batch=batch)
