"""Transactions that are open on what a toxic is about to take away, as their coordinators tell of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from harness.base import wait
from harness.base.unprepared import Unprepared
from harness.evidence.transaction_states import GOING_ON
from harness.kafka.leader_client import LeaderClient, Unreachable
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions, DescribeTransactionsResult
from harness.wire.topic_partitions import named_partition

FoundT = TypeVar("FoundT")

OPEN_SECONDS, LOOK_SECONDS = 2.0, 0.02
"""That a toxic waits for such a transaction, and between two looks."""
ANSWER_SECONDS = 10.0
"""Within which a coordinator has to tell: it may have become one just now because the last one was killed, and load."""


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """A transaction that has not ended, known by its producer id and when it began.

    :param partitions: Those that it has, by name.
    """

    producer_id: int
    started_ms: int
    partitions: frozenset[str] = field(compare=False)


def topic_of(partition: str) -> str:
    """
    >>> topic_of("accounts-2")
    'accounts'
    """
    return named_partition(partition)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTransactions:
    """Of the workload's transactional ids.

    :param names: The real transactional id by the workload's name for it.
    :param topics: Those that transactions are looked for on; of two that as many have, it is the first.
    :param place_of: What is to be taken away, by the name of a partition: that partition, or its topic.
    """

    leader_client: LeaderClient
    names: Mapping[str, str]
    topics: Sequence[str]
    place_of: Callable[[str], str] = topic_of

    def most_used(self) -> tuple[str, Mapping[str, OpenTransaction]]:
        """The place that most open transactions have, and these by the workload's names of their ids.

        :raises Unprepared: When none is open on such a topic in time.
        """
        found = self._awaited(self._by_place, f"one of {len(self.topics)} topics")
        place = max(sorted(found, key=self._rank), key=lambda each: len(found[each]))
        return place, found[place]

    def on(self, place: str) -> Mapping[str, OpenTransaction]:
        """Those that have the place; :raises Unprepared: when none has it in time."""
        return self._awaited(lambda: self._by_place().get(place, {}), place)

    def left_of(self, before: Mapping[str, OpenTransaction], place: str) -> Sequence[str]:
        """Which of these have the place and have not ended, by the workload's names of their ids."""
        now = self._by_place(before).get(place, {})
        return [name for name, one in before.items() if now.get(name) == one]

    @staticmethod
    def _awaited(look: Callable[[], Mapping[str, FoundT]], where: str) -> Mapping[str, FoundT]:
        what = f"a transaction that is open on {where}"
        try:
            return wait.until(look, what=what, timeout_seconds=OPEN_SECONDS, interval_seconds=LOOK_SECONDS)
        except wait.TimedOut as late:
            raise Unprepared(str(late)) from late

    def _by_place(self, names: Iterable[str] | None = None) -> Mapping[str, Mapping[str, OpenTransaction]]:
        """Of these ids, or of all."""
        found: dict[str, dict[str, OpenTransaction]] = {}
        for name in self.names if names is None else names:
            if one := self._open(self.names[name]):
                for place in {self.place_of(each) for each in one.partitions if topic_of(each) in self.topics}:
                    found.setdefault(place, {})[name] = one
        return found

    def _rank(self, place: str) -> tuple[int, str]:
        topic = place if place in self.topics else topic_of(place)
        return self.topics.index(topic), place

    def _open(self, transactional_id: str) -> OpenTransaction | None:
        request = DescribeTransactions(transactional_id=transactional_id)
        try:
            answer = self.leader_client.at_coordinator(transactional_id, request, timeout_seconds=ANSWER_SECONDS)
        except Unreachable:
            return None
        return _open_transaction(answer) if answer.state in GOING_ON else None


def _open_transaction(answer: DescribeTransactionsResult) -> OpenTransaction:
    return OpenTransaction(answer.producer_id, answer.start_time_ms, frozenset(answer.partitions))
