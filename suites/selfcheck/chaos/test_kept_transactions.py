"""What coordinators describe and list of the same ids, by brokers that are tables of answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from harness.base.kafka_error import KafkaError
from harness.chaos.observe.kept_transactions import KeptByCoordinators, kept_transactions
from harness.kafka.leader_client import LeaderClient, Unreachable
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions, DescribeTransactionsResult
from harness.wire.requests.transactions.list_transactions import (
    ListedTransaction,
    ListTransactions,
    ListTransactionsResult,
)
from suites.selfcheck.fixtures.fake_log_cluster import Broker, leader_client


def description(state: str | None, producer_id: int = 7) -> DescribeTransactionsResult:
    """What a coordinator describes; None: it does not know the id."""
    return DescribeTransactionsResult(
        error=KafkaError.TRANSACTIONAL_ID_NOT_FOUND if state is None else 0,
        error_message=None,
        state=state or "",
        producer_id=producer_id,
        producer_epoch=0,
        timeout_ms=10_000,
        start_time_ms=-1,
        partitions=[],
    )


@dataclass
class TwoCoordinators:
    """Two brokers; each answer is the next of its list, and the last one from then on.

    :param states: In which the id "a" is described; None for one that is not known, an empty text for no answer.
    :param lists: What broker 1 lists; broker 2 lists nothing but what ``other`` has.
    """

    states: list[str | None]
    lists: list[Sequence[str]]
    other: Sequence[str] = ()
    error: int = 0
    brokers: Sequence[int] = (1, 2)
    asked: list[str] = field(default_factory=list)

    def at_coordinator(
        self, key: str, request: DescribeTransactions, *, timeout_seconds: float
    ) -> DescribeTransactionsResult:
        assert (key, request.transactional_id, timeout_seconds >= 0) == ("a", "a", True)
        self.asked.append(request.api)
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        if state == "":
            raise Unreachable("nobody describes a")
        return description(state)

    def at_broker(self, broker: int, request: ListTransactions, *, timeout_seconds: float) -> ListTransactionsResult:
        assert (request.states, timeout_seconds >= 0) == ((), True)
        self.asked.append(request.api)
        states = self.other
        if broker == 1:
            states = self.lists.pop(0) if len(self.lists) > 1 else self.lists[0]
        found = [ListedTransaction(transactional_id="a", producer_id=7, state=state) for state in states]
        return ListTransactionsResult(error=self.error, error_message=None, transactions=found, unknown_states=[])

    def told(self, timeout_seconds: float = 60) -> list[tuple[str, str | None]]:
        """State and list of each id in the history."""
        state = KeptByCoordinators(leader_client=self)  # type: ignore[arg-type]
        first = state.described("a", timeout_seconds)
        described = {} if first is None else {"a": first}
        listed = state.compared(described, timeout_seconds)
        return [(row.state, row.listed) for row in kept_transactions(described, listed)]


def test_what_is_described_and_listed_alike_is_asked_for_once() -> None:
    brokers = TwoCoordinators(["Empty"], [["Empty"]])
    assert brokers.told() == [("Empty", "Empty 7")]
    assert brokers.asked == ["DescribeTransactions", "ListTransactions", "ListTransactions"]


def test_a_state_that_changes_between_both_is_asked_for_again() -> None:
    assert TwoCoordinators(["PrepareCommit", "CompleteCommit"], [["CompleteCommit"]]).told() == [
        ("CompleteCommit", "CompleteCommit 7")
    ]
    assert TwoCoordinators(["Empty"], [[], ["Empty"]]).told() == [("Empty", "Empty 7")]


def test_an_id_that_expires_between_both_is_not_there() -> None:
    assert TwoCoordinators(["Empty", None], [[]]).told() == []


@pytest.mark.parametrize(
    ("lists", "other", "listed"),
    [([], (), ""), (["Ongoing"], (), "Ongoing 7"), (["Empty"], ["Empty"], "Empty 7,Empty 7")],
    ids=["by nobody", "otherwise", "by two"],
)
def test_what_stays_different_is_told_as_it_is(lists: Sequence[str], other: Sequence[str], listed: str) -> None:
    brokers = TwoCoordinators(["Empty"], [lists], other)
    assert brokers.told(timeout_seconds=0.06) == [("Empty", listed)]
    assert brokers.asked.count("DescribeTransactions") > 1


def test_of_an_id_that_is_not_described_again_nothing_is_said() -> None:
    assert TwoCoordinators(["Empty", ""], [[]]).told(timeout_seconds=0.06) == [("Empty", None)]


def test_lists_that_are_refused_are_no_lists() -> None:
    with pytest.raises(Unreachable, match="broker 1 answered CLUSTER_AUTHORIZATION_FAILED") as found:
        TwoCoordinators(["Empty"], [["Empty"]], error=KafkaError.CLUSTER_AUTHORIZATION_FAILED).told()
    assert found.value.error == KafkaError.CLUSTER_AUTHORIZATION_FAILED
    (row,) = kept_transactions({"a": description("Empty")}, {})
    assert row.listed is None


def test_one_broker_is_asked_until_it_answers_and_the_last_error_is_told() -> None:
    client: LeaderClient = leader_client(Broker(listed={1: [("a", "Empty")]}))
    result = client.at_broker(1, ListTransactions(states=("Empty",)), timeout_seconds=0)
    assert [each["transactional_id"] for each in result.transactions] == ["a"]
    with pytest.raises(Unreachable, match="COORDINATOR_LOAD_IN_PROGRESS") as found:
        leader_client(Broker(loading=True)).at_broker(1, ListTransactions(), timeout_seconds=0)
    assert found.value.error == KafkaError.COORDINATOR_LOAD_IN_PROGRESS
