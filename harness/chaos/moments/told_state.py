"""The state of a held request's transactional id, as its coordinator tells it at that moment (KIP-664).

It only decides whether a fault strikes now or waits for the next request. Which situation it struck in is derived from
the coordinators' own log afterwards.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from harness.base.kafka_error import KafkaError
from harness.evidence.situations.situation import UNKNOWN
from harness.faults.fault_target import FaultTarget
from harness.faults.frame_rule import Strike
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions, DescribeTransactionsResult
from harness.wire.requests.transactions.list_transactions import ListTransactions, ListTransactionsResult
from harness.wire.wire_errors import WireError

ResultT = TypeVar("ResultT", bound=ApiResult)
ANSWER_SECONDS = 0.5
"""That a broker has for its answer; one that is slower is not waited for."""


def told_state(strike: Strike, fault_target: FaultTarget, first: int | None = None) -> str | None:
    """In Kafka's words (``TransactionState``), ``unknown`` for an id that its coordinator does not know.

    Of a request for several ids the first one's. Markers name a producer id alone, of which brokers list the
    transactions. None where no broker tells.

    :param first: The broker that is asked first, which mostly is the coordinator.
    """
    brokers = sorted(fault_target.brokers, key=lambda broker: broker != first)
    if strike.transactional_ids:
        described = DescribeTransactions(transactional_id=strike.transactional_ids[0])
        return _first_told(described, _described, fault_target, brokers)
    if strike.producer_id is not None:
        return _first_told(ListTransactions(producer_ids=(strike.producer_id,)), _listed, fault_target, brokers)
    return None


def _first_told(
    request: ApiRequest[ResultT],
    read: Callable[[ResultT], str | None],
    fault_target: FaultTarget,
    brokers: Sequence[int],
) -> str | None:
    """Of the brokers in this order; only the coordinator of the id tells anything."""
    for broker in brokers:
        try:
            told = read(fault_target.client.call(broker, request, timeout_seconds=ANSWER_SECONDS).result)
        except WireError:
            continue
        if told is not None:
            return told
    return None


def _described(result: DescribeTransactionsResult) -> str | None:
    if result.error == KafkaError.TRANSACTIONAL_ID_NOT_FOUND:
        return UNKNOWN
    return None if result.error else result.state


def _listed(result: ListTransactionsResult) -> str | None:
    return result.transactions[0]["state"] if result.transactions else None
