"""What coordinators keep of transactional ids after settling, by both requests of KIP-664.

A coordinator describes an id, and lists all that it coordinates; both read the same state (``TransactionMetadata`` in
``TransactionStateManager``). An id may expire between the two, and a coordinator may move; so where they differ both
are asked again, and what is written is what they told last.
"""

import time
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass

from harness.base import wait
from harness.base.kafka_error import KafkaError, error_name
from harness.evidence.history.operation import KeptTransaction
from harness.kafka.leader_client import RETRY_SECONDS, LeaderClient, Unreachable
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions, DescribeTransactionsResult
from harness.wire.requests.transactions.list_transactions import ListTransactions

Described = Mapping[str, DescribeTransactionsResult]
"""By transactional id; none of an id that its coordinator does not know."""
Listed = Mapping[str, str]
"""By transactional id: state and producer id as a broker lists it, with a blank between; of several, with commas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptByCoordinators:
    """Asks what coordinators keep; raises :class:`Unreachable` for what they do not tell in time."""

    leader_client: LeaderClient

    def described(self, transactional_id: str, timeout_seconds: float) -> DescribeTransactionsResult | None:
        """What the coordinator describes; None for an id that it does not know, which is an answer."""
        request = DescribeTransactions(transactional_id=transactional_id)
        kept = self.leader_client.at_coordinator(transactional_id, request, timeout_seconds=timeout_seconds)
        if kept.error == KafkaError.TRANSACTIONAL_ID_NOT_FOUND:
            return None
        require_success(kept.error, f"DescribeTransactions of {transactional_id}")
        return kept

    def listed(self, timeout_seconds: float) -> Listed:
        """What all brokers list, the ids of others among it."""
        found: dict[str, list[str]] = {}
        for broker in self.leader_client.brokers:
            answer = self.leader_client.at_broker(broker, ListTransactions(), timeout_seconds=timeout_seconds)
            require_success(answer.error, f"ListTransactions of broker {broker}")
            for each in answer.transactions:
                found.setdefault(each["transactional_id"], []).append(f"{each['state']} {each['producer_id']}")
        return {name: ",".join(states) for name, states in found.items()}

    def compared(self, described: MutableMapping[str, DescribeTransactionsResult], timeout_seconds: float) -> Listed:
        """The lists, asked for until they agree with the descriptions, which are asked for again where they do not.

        :param described: Is changed where a description has changed.
        :return: Of every id that is described; of one that could not be described again nothing.
        """
        deadline = time.monotonic() + timeout_seconds
        uncertain = set[str]()
        while True:
            listed = self.listed(timeout_seconds)
            differing = [name for name, kept in described.items() if listed.get(name) != as_listed(kept)]
            if not differing or time.monotonic() >= deadline:
                return {name: listed.get(name, "") for name in described if name not in uncertain}
            wait.pause(RETRY_SECONDS)
            uncertain = {name for name in differing if not self._described_again(name, described)}

    def _described_again(self, name: str, described: MutableMapping[str, DescribeTransactionsResult]) -> bool:
        """Whether the coordinator answered."""
        try:
            kept = self.described(name, timeout_seconds=0)
        except Unreachable:
            return False
        if kept is None:
            del described[name]
        else:
            described[name] = kept
        return True


def as_listed(kept: DescribeTransactionsResult) -> str:
    """A description in the form of :data:`Listed`."""
    return f"{kept.state} {kept.producer_id}"


def kept_transactions(described: Described, listed: Listed) -> Iterator[KeptTransaction]:
    """The history's rows; :param listed: Nothing where not every broker told."""
    for transactional_id, kept in described.items():
        yield KeptTransaction(
            transactional_id=transactional_id,
            state=kept.state,
            producer_id=kept.producer_id,
            epoch=kept.producer_epoch,
            timeout_ms=kept.timeout_ms,
            started_ms=kept.start_time_ms,
            partitions=",".join(kept.partitions),
            listed=listed.get(transactional_id),
        )


def require_success(error: int, what: str) -> None:
    """:raises Unreachable: For an answer with an error, which no further try would change."""
    if error:
        raise Unreachable(f"{what} answered {error_name(error)}", error)
