"""A request of the model as it is sent, and its answer in the model's words."""

import re
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from harness.base.kafka_error import KafkaError, error_name
from harness.explore.cell_identities import CellIdentities
from harness.model.alphabet import KNOWS_PATTERN, PARTITIONS
from harness.model.coordinator_model import described_state, unknown_states_told
from harness.model.leader_model import described_producer
from harness.model.model_requests import (
    AddOffsetsAsked,
    AddPartitionsAsked,
    DescribedBy,
    DescribeProducerAsked,
    DescribeTransactionAsked,
    EndTxnAsked,
    InitProducerIdAsked,
    ListedPattern,
    ListTransactionsAsked,
    ModelAnswer,
    ModelRequest,
    ProduceAsked,
    TxnOffsetCommitAsked,
    WriteMarkerAsked,
)
from harness.model.model_state import NONE
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.api_results import PartitionErrors, ProducerIdAndEpoch
from harness.wire.codec.response_fields import first_error
from harness.wire.records.record_batch import NewBatch
from harness.wire.requests.log.produce import PartitionBatch, Produce
from harness.wire.requests.transactions.add_offsets_to_txn import AddOffsetsToTxn
from harness.wire.requests.transactions.add_partitions_to_txn import AddPartitionsToTxn
from harness.wire.requests.transactions.describe_producers import DescribeProducers, DescribeProducersResult
from harness.wire.requests.transactions.describe_transactions import (
    DescribeTransactions,
    DescribeTransactionsOf,
    DescribeTransactionsOfResult,
    DescribeTransactionsResult,
)
from harness.wire.requests.transactions.end_txn import EndTxn
from harness.wire.requests.transactions.init_producer_id import InitProducerId
from harness.wire.requests.transactions.list_transactions import ListTransactions, ListTransactionsResult
from harness.wire.requests.transactions.txn_offset_commit import TxnOffsetCommit
from harness.wire.requests.transactions.write_txn_markers import WriteTxnMarkers
from harness.wire.topic_partitions import TopicPartition

LARGEST_BATCH = 10_000
"""Bytes that topics of cells allow (``max.message.bytes``), on clusters of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RealRequest:
    """What is sent, and to whom: the coordinator of a transactional id, or the leader of a partition.

    A group's coordinator is the leader of the partition that keeps the group.

    :param by: Which broker of the partition; for a transactional id a stranger is one that does not coordinate it.
    """

    request: ApiRequest[Any]
    version: int
    at: str | TopicPartition
    by: DescribedBy = DescribedBy.LEADER


def real_request(asked: ModelRequest, who: CellIdentities, topic_id: UUID | None) -> RealRequest:
    """The request with the cell's names and numbers."""
    at: str | TopicPartition
    by = DescribedBy.LEADER
    match asked:
        case DescribeProducerAsked():
            at, by = who.places[asked.partition], asked.by
        case DescribeTransactionAsked():
            at, by = who.real_id(asked.id), DescribedBy.STRANGER if asked.elsewhere else DescribedBy.LEADER
        case ProduceAsked() | TxnOffsetCommitAsked() | WriteMarkerAsked():
            at = who.places[asked.partition]
        case _:
            at = who.real_id(asked.id)
    return RealRequest(request=_request(asked, who, topic_id), version=asked.version, at=at, by=by)


def _request(asked: ModelRequest, who: CellIdentities, topic_id: UUID | None) -> ApiRequest[Any]:
    producer_id = who.producer_id(asked.producer_id)
    match asked:
        case InitProducerIdAsked():
            return InitProducerId(
                transactional_id=who.real_id(asked.id),
                timeout_ms=who.timeout_ms if asked.timeout_ms == NONE else asked.timeout_ms,
                producer_id=producer_id,
                producer_epoch=asked.epoch,
            )
        case AddPartitionsAsked():
            return AddPartitionsToTxn(
                transactional_id=who.real_id(asked.id),
                producer_id=producer_id,
                producer_epoch=asked.epoch,
                partitions=tuple(who.places[name] for name in sorted(asked.partitions)),
                verify_only=asked.verify_only,
            )
        case AddOffsetsAsked():
            return AddOffsetsToTxn(
                transactional_id=who.real_id(asked.id),
                producer_id=producer_id,
                producer_epoch=asked.epoch,
                group=who.group,
            )
        case ProduceAsked():
            return _produce(asked, who, topic_id)
        case TxnOffsetCommitAsked():
            return _commit_offset(asked, who)
        case EndTxnAsked():
            return EndTxn(
                transactional_id=who.real_id(asked.id),
                producer_id=producer_id,
                producer_epoch=asked.epoch,
                committed=asked.commit,
            )
        case WriteMarkerAsked():
            return _marker(asked, who)
        case ListTransactionsAsked():
            return ListTransactions(
                states=asked.states,
                producer_ids=(producer_id,),
                duration_ms=asked.duration_ms,
                pattern=_pattern(asked, who),
            )
        case DescribeTransactionAsked() | DescribeProducerAsked():
            return _description(asked, who)


def _description(asked: DescribeTransactionAsked | DescribeProducerAsked, who: CellIdentities) -> ApiRequest[Any]:
    if isinstance(asked, DescribeTransactionAsked):
        if asked.names_none:
            return DescribeTransactionsOf(transactional_ids=())
        return DescribeTransactions(transactional_id=who.real_id(asked.id))
    topic, partition = who.places[asked.partition]
    return DescribeProducers(topic=topic, partition=partition)


def _marker(asked: WriteMarkerAsked, who: CellIdentities) -> WriteTxnMarkers:
    return WriteTxnMarkers(
        producer_id=who.producer_id(asked.producer_id),
        producer_epoch=asked.epoch,
        committed=asked.commit,
        partitions=(who.places[asked.partition],),
        coordinator_epoch=who.real_coordinator_epoch(asked.coordinator_epoch, asked.producer_id),
        transaction_version=asked.level,
    )


def _pattern(asked: ListTransactionsAsked, who: CellIdentities) -> str | None:
    match asked.pattern:
        case ListedPattern.ANY:
            return None if asked.version < KNOWS_PATTERN else ".*"
        case ListedPattern.OWN:
            return re.escape(who.real_id(asked.id))
        case ListedPattern.NO_ID:
            return f"no-{re.escape(who.real_id(asked.id))}"
        case ListedPattern.INVALID:
            return "["


def _commit_offset(asked: TxnOffsetCommitAsked, who: CellIdentities) -> TxnOffsetCommit:
    """Of the first partition: offsets of several are kept alike."""
    return TxnOffsetCommit(
        transactional_id=who.real_id(asked.id),
        group=who.group,
        producer_id=who.producer_id(asked.producer_id),
        producer_epoch=asked.epoch,
        offsets={who.places[PARTITIONS[0]]: asked.offset},
        generation=asked.generation,
        member=asked.member,
    )


def _produce(asked: ProduceAsked, who: CellIdentities, topic_id: UUID | None) -> Produce:
    topic, partition = who.places[asked.partition]
    batch = NewBatch(
        values=("x" * LARGEST_BATCH if asked.too_large else asked.value,),
        producer_id=who.producer_id(asked.producer_id),
        producer_epoch=asked.epoch,
        base_sequence=asked.sequence,
        transactional=asked.transactional,
    )
    placed = PartitionBatch(topic=topic, partition=partition, batch=batch, topic_id=topic_id)
    return Produce(transactional_id=who.real_id(asked.id) if asked.names_id else None, batches=(placed,))


def answer_of(asked: ModelRequest, result: ApiResult, who: CellIdentities) -> ModelAnswer:
    """Its error, and the identity that it tells; a producer id that is new gets the next symbolic number."""
    error = error_name(_error(result))
    if isinstance(result, ProducerIdAndEpoch) and isinstance(asked, InitProducerIdAsked | EndTxnAsked):
        return ModelAnswer(error, who.given(result.producer_id, asked.id), result.producer_epoch)
    if isinstance(result, ListTransactionsResult) and isinstance(asked, ListTransactionsAsked):
        return _listed(error, result, asked.id, who)
    if isinstance(result, DescribeTransactionsResult) and isinstance(asked, DescribeTransactionAsked):
        return _described(error, result, asked.id, who)
    if isinstance(result, DescribeTransactionsOfResult):
        return ModelAnswer(error, state="".join(sorted(result.transactions)))
    if isinstance(result, DescribeProducersResult) and isinstance(asked, DescribeProducerAsked):
        return ModelAnswer(error, state=_producer(result, who.producer_id(asked.producer_id)))
    return ModelAnswer(error)


def _listed(error: str, result: ListTransactionsResult, name: str, who: CellIdentities) -> ModelAnswer:
    """The id in the list, where it is in it; else the states that the broker does not know."""
    for each in result.transactions:
        if each["transactional_id"] == who.real_id(name):
            return ModelAnswer(error, who.given(each["producer_id"], name), state=each["state"])
    return ModelAnswer(error, state=unknown_states_told(result.unknown_states))


def _described(error: str, result: DescribeTransactionsResult, name: str, who: CellIdentities) -> ModelAnswer:
    if result.error:
        return ModelAnswer(error)
    state = described_state(result.state, who.named(result.partitions))
    return ModelAnswer(error, who.given(result.producer_id, name), result.producer_epoch, state)


def _producer(result: DescribeProducersResult, producer_id: int) -> str:
    """In the list, in words."""
    for each in result.producers:
        if each["producer_id"] == producer_id:
            is_open = each["current_txn_start_offset"] >= 0
            return described_producer(each["producer_epoch"], each["last_sequence"], is_open=is_open)
    return ""


def _error(result: ApiResult) -> int:
    """Of several partitions the first that was refused for its own sake (``KafkaApis``, AddPartitionsToTxn)."""
    if not isinstance(result, PartitionErrors):
        return result.error
    own = [code for code in result.partitions.values() if code != KafkaError.OPERATION_NOT_ATTEMPTED]
    return first_error(*own, result.error)
