"""Requests that were asked as they are (verb ``ask``), in the model's words."""

from collections.abc import Mapping
from typing import Any

from harness.evidence.history.asked_request import TOO_LONG_MS, AskedRequest
from harness.model.coordinator_model import NEW_PROTOCOL_END
from harness.model.model_requests import (
    AddPartitionsAsked,
    DescribeTransactionAsked,
    EndTxnAsked,
    InitProducerIdAsked,
    ModelAnswer,
    ModelRequest,
    ProduceAsked,
)
from harness.model.model_state import NONE, CoordinatorState
from harness.model.protocol_profile import NEW_PROTOCOL_PRODUCE
from harness.wire.topic_partitions import partition_name

OLD_PRODUCE, OLD_END, CLIENTS_INIT, CLIENTS_ADD = 11, 3, 4, 3
"""Versions of clients of the old protocol, and of both; what lies between two of them makes no difference."""


def told_by(row: Mapping[str, Any]) -> ModelAnswer:
    """What an operation that was done was answered."""
    known = row["producer_id"] is not None
    producer_id, epoch = (row["producer_id"], row["epoch"]) if known else (NONE, NONE)
    return ModelAnswer(producer_id=producer_id, epoch=epoch, state=row["state"] or "")


def is_open(row: Mapping[str, Any]) -> bool:
    """Whether it describes an open transaction."""
    return str(row["state"]).startswith(CoordinatorState.ONGOING)


def asked_in_model(asked: AskedRequest, own_id: str, *, new: bool, produce: int) -> ModelRequest:
    """:param new: Whether the client speaks Transactions V2. :param produce: The newest version that brokers offer."""
    name, producer_id, epoch = asked.transactional_id or own_id, asked.producer_id, asked.epoch
    partition = partition_name(asked.topic, asked.partition)
    match asked.api:
        case "InitProducerId":
            timeout_ms = TOO_LONG_MS if asked.too_long else NONE
            return InitProducerIdAsked(
                id=name, version=CLIENTS_INIT, producer_id=producer_id, epoch=epoch, timeout_ms=timeout_ms
            )
        case "AddPartitionsToTxn":
            return AddPartitionsAsked(
                id=name,
                version=CLIENTS_ADD,
                producer_id=producer_id,
                epoch=epoch,
                partitions=frozenset({partition}),
            )
        case "EndTxn":
            version = NEW_PROTOCOL_END if new else OLD_END
            return EndTxnAsked(id=name, version=version, producer_id=producer_id, epoch=epoch, commit=asked.commit)
        case "DescribeTransactions":
            return DescribeTransactionAsked(id=name, elsewhere=asked.elsewhere)
        case "Produce":
            return ProduceAsked(
                id=name,
                version=min(NEW_PROTOCOL_PRODUCE if new else OLD_PRODUCE, produce),
                partition=partition,
                producer_id=producer_id,
                epoch=epoch,
                sequence=asked.sequence,
                transactional=asked.transactional,
                too_large=asked.too_large,
            )
