"""A client on one lane that sends each request to the leader or coordinator, and looks it up again after a change.

Everything that is read for the judge during and after chaos is read through one. Calls are bounded; a broker that is
down raises only when the bound is over.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from harness.base import wait
from harness.base.addresses import Address, Lane
from harness.base.clock import RunClock
from harness.base.kafka_error import error_name
from harness.evidence.recorder import NullRecorder
from harness.kafka.in_charge import confirmation, coordination, in_epoch, version_of_leaders
from harness.kafka.retriable import READ_AGAIN
from harness.kafka.routing import RoutingTable, find_coordinator, first_answer
from harness.wire.api_request import ApiRequest, ApiResult
from harness.wire.offered import Offered
from harness.wire.requests.cluster.metadata import Metadata, MetadataResult
from harness.wire.requests.groups.find_coordinator import TRANSACTION
from harness.wire.requests.transactions.list_transactions import ListTransactions, ListTransactionsResult
from harness.wire.security.security import PLAINTEXT, Security
from harness.wire.topic_partitions import TopicPartition, partition_name
from harness.wire.wire_client import WireClient
from harness.wire.wire_errors import CannotBuild, NotOffered, UnreadableAnswer, WireError

ResultT = TypeVar("ResultT", bound=ApiResult)

WITHIN_SECONDS = 10.0
"""That a request may take with all its tries."""
RETRY_SECONDS = 0.05
"""Between two tries."""
NOBODY_ASKED = "no broker was asked"


class Unreachable(Exception):
    """No answer came within the bound; the text is one sentence with the last reason.

    :param error: Kafka's code of the last answer; None where none came, or the last broker asked gave none.
    """

    def __init__(self, text: str, error: int | None = None) -> None:
        super().__init__(text)
        self.error = error


def require_success(error: int, what: str) -> None:
    """:raises Unreachable: For an answer with an error, which no further try would change."""
    if error:
        raise Unreachable(f"{what} answered {error_name(error)}", error)


@dataclass(slots=True, kw_only=True)
class LeaderClient:
    """Requests that only read, over one lane; used by one thread. Close it after use.

    :param brokers: Those who may be asked for metadata.
    :param answer_seconds: What one broker is given for one answer.
    """

    client: WireClient
    brokers: Sequence[int]
    answer_seconds: float = 3.0
    _routing: RoutingTable = field(default_factory=RoutingTable)
    _turn: int = 0
    _reason: str = NOBODY_ASKED
    _error: int | None = None

    @classmethod
    def over(
        cls,
        addresses: Mapping[int, Address],
        clock: RunClock,
        lane: Lane = "observer",
        *,
        security: Security = PLAINTEXT,
    ) -> "LeaderClient":
        """One with a wire client of its own, whose exchanges are not kept."""
        client = WireClient(
            actor=f"leader-client-{lane}",
            lane=lane,
            addresses=addresses,
            clock=clock,
            recorder=NullRecorder(),
            security=security,
        )
        return cls(client=client, brokers=tuple(addresses))

    def at_leader(
        self,
        topic_partition: TopicPartition,
        request: ApiRequest[ResultT],
        *,
        timeout_seconds: float = WITHIN_SECONDS,
    ) -> ResultT:
        """Ask the partition's current leader, and nobody who has been it (:mod:`harness.kafka.in_charge`).

        :param timeout_seconds: Seconds in all.
        :raises Unreachable: When there was no answer other than a retriable error in time.
        """

        def once() -> ResultT | None:
            leader = self.leader(topic_partition)
            answer = None if leader is None else self._ask_leader(leader, request)
            if answer is None:
                self.forget((topic_partition,))
            return answer

        return self._until(once, f"{request.api} of {partition_name(*topic_partition)}", timeout_seconds)

    def at_coordinator(
        self,
        key: str,
        request: ApiRequest[ResultT],
        *,
        key_type: int = TRANSACTION,
        timeout_seconds: float = WITHIN_SECONDS,
    ) -> ResultT:
        """Ask the coordinator of a transactional id, or of a group (``GROUP``); raises as :meth:`at_leader` does.

        The answer counts when the broker was the coordinator before and after it, by the newest that any broker knows.
        """

        def once() -> ResultT | None:
            found = self.coordinator(key, key_type=key_type)
            before = None if found is None else coordination(found, key, key_type, self._all)
            if found is None or before is None:
                self._failed(f"broker {found} is not the coordinator of {key} by the newest metadata")
                return None
            answer = self._ask(found, request)
            return answer if coordination(found, key, key_type, self._all) == before else None

        return self._until(once, f"{request.api} of {key}", timeout_seconds)

    def at_broker(
        self, broker: int, request: ApiRequest[ResultT], *, timeout_seconds: float = WITHIN_SECONDS
    ) -> ResultT:
        """Ask one broker, whoever leads or coordinates; raises as :meth:`at_leader` does."""
        return self._until(lambda: self._ask(broker, request), f"{request.api} of broker {broker}", timeout_seconds)

    def coordinator(self, key: str, *, key_type: int = TRANSACTION) -> int | None:
        """The coordinator, asked of one broker after the other; None while no broker knows it."""
        return find_coordinator(key, key_type, self._first)

    def leader(self, topic_partition: TopicPartition) -> int | None:
        """The partition's leader, remembered until :meth:`forget`; None while it has none."""
        return self._routing.leader(topic_partition, self._any)

    def leader_epoch(self, topic_partition: TopicPartition) -> int:
        """The newest leader epoch that was seen; -1 when none was. Nothing is asked."""
        return self._routing.leader_epoch(topic_partition)

    def leaders(self, topic_partitions: Sequence[TopicPartition]) -> Mapping[int, Sequence[TopicPartition]]:
        """The partitions by leader; those that have none now are left out."""
        return self._routing.leaders(topic_partitions, self._any)

    def forget(self, topic_partitions: Iterable[TopicPartition]) -> None:
        """Look their leaders up again at the next request."""
        self._routing.invalidate(topic_partitions)

    def metadata_of(self, broker: int, topics: tuple[str, ...]) -> MetadataResult | None:
        """What one broker knows, or None when it does not answer; a partition's error is no error of the answer."""
        return self._answer(broker, Metadata(topics=topics))

    def transactions_of(self, broker: int, states: Iterable[str]) -> ListTransactionsResult | None:
        """Those in ``states`` that one broker coordinates, or None when it does not answer; it may tell an error."""
        return self._answer(broker, ListTransactions(states=tuple(states)))

    def advertised_by(self, broker: int) -> Offered | None:
        """What one broker advertises now, or None when it does not answer."""
        try:
            return self.client.refresh(broker, self.answer_seconds)
        except WireError as error:
            self._failed(str(error))
            return None

    def close(self) -> None:
        self.client.close()

    def _any(self, request: ApiRequest[ResultT]) -> ResultT | None:
        """The first answer, errors included; another broker is asked first each time."""
        self._turn += 1
        turn = self._turn % len(self.brokers)
        return first_answer((*self.brokers[turn:], *self.brokers[:turn]), self._answer, request)

    def _first(self, request: ApiRequest[ResultT]) -> ResultT | None:
        """The first answer without a retriable error, brokers in their order."""
        return first_answer(self.brokers, self._ask, request)

    def _all(self, request: ApiRequest[ResultT]) -> Iterator[ResultT]:
        """The answers of all brokers that answer, errors included."""
        return (answer for node in self.brokers if (answer := self._answer(node, request)) is not None)

    def _answer(self, node: int, request: ApiRequest[ResultT]) -> ResultT | None:
        try:
            return self.client.call(node, request, timeout_seconds=self.answer_seconds).result
        except WireError as error:
            self._failed(str(error))
            return None

    def _ask_leader(self, leader: int, request: ApiRequest[ResultT]) -> ResultT | None:
        """The answer of a broker that is the leader in the newest known epoch; None when it is not."""
        answer = self._ask(leader, in_epoch(request, self.leader_epoch), of_leaders=True)
        after = confirmation(request, self.leader_epoch)
        if answer is None or after is None:
            return answer
        confirmed = self._ask(leader, after, of_leaders=True)
        return answer if confirmed is not None and confirmed.error == 0 else None

    def _ask(self, node: int, request: ApiRequest[ResultT], *, of_leaders: bool = False) -> ResultT | None:
        """The answer, or None where another broker may give one.

        :raises Unreachable: For what no broker can answer: an API not offered, a request that no version can carry.
        """
        try:
            version = version_of_leaders(self.client, node, request.api) if of_leaders else None
            result = self.client.call(node, request, version, timeout_seconds=self.answer_seconds).result
        except (NotOffered, CannotBuild, UnreadableAnswer) as error:
            raise Unreachable(str(error)) from error
        except WireError as error:
            self._failed(str(error))
            return None
        if result.error in READ_AGAIN:
            self._failed(f"broker {node} answered {request.api} with {error_name(result.error)}", result.error)
            return None
        return result

    def _until(self, once: Callable[[], ResultT | None], what: str, timeout_seconds: float) -> ResultT:
        self._failed(NOBODY_ASKED)
        try:
            return wait.until(once, what=what, timeout_seconds=timeout_seconds, interval_seconds=RETRY_SECONDS)
        except wait.TimedOut as late:
            raise Unreachable(f"{late}: {self._reason}", self._error) from late

    def _failed(self, reason: str, error: int | None = None) -> None:
        self._reason, self._error = reason, error
