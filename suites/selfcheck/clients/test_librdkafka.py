"""librdkafka's statistics show whether a call was a first try, and its client never raises or hangs."""

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from harness.clients.client import Client, ClientOptions
from harness.clients.client_catalogue import ADAPTERS
from harness.clients.librdkafka.statistics import Statistics
from harness.evidence.history.operation import Outcome, Value
from suites.selfcheck.fixtures.mock_cluster import mock_cluster


def emitted(brokers: Mapping[str, Mapping[str, int]], *, at: float = 0.0) -> str:
    """One emission of librdkafka."""
    return json.dumps(
        {
            "ts": at * 1e6,
            "brokers": {name: {"req": sent} for name, sent in brokers.items()},
            "eos": {"producer_id": 4711, "producer_epoch": 3},
        }
    )


def test_as_many_requests_as_calls_that_needed_one_leave_none_for_a_repetition() -> None:
    statistics = Statistics()
    for _ in range(2):
        statistics.needed("Produce")
    statistics.take(emitted({"a": {"Produce": 2}, "b": {"Produce": 1, "EndTxn": 1}}))
    assert statistics.sent_for_this("Produce") == 1
    assert statistics.sent_for_this("EndTxn") == 1
    assert statistics.sent_for_this("TxnOffsetCommit") == 0
    statistics.take(emitted({"a": {"Produce": 3}, "b": {"Produce": 1, "EndTxn": 1}}))
    assert statistics.sent_for_this("Produce") == 2
    assert statistics.identity == (4711, 3)


@pytest.mark.parametrize("after", [{"b": {"Produce": 1}}, {"a": {"Produce": 1}, "b": {"Produce": 1}}])
def test_once_a_count_is_lost_nothing_is_certain(after: Mapping[str, Mapping[str, int]]) -> None:
    statistics = Statistics()
    statistics.take(emitted({"a": {"Produce": 2}}))
    statistics.take(emitted(after))
    assert statistics.sent_for_this("Produce") is None
    statistics.take(emitted({"a": {"Produce": 9}, "b": {"Produce": 9}}))
    assert statistics.sent_for_this("Produce") is None


def test_a_broker_that_was_asked_nothing_that_counts_may_go() -> None:
    statistics = Statistics()
    statistics.take(emitted({"a/bootstrap": {"ApiVersion": 2, "Metadata": 1}}))
    statistics.take(emitted({"a/1": {"Produce": 1}}))
    assert statistics.sent_for_this("Produce") == 1


def test_only_an_emission_after_the_question_answers_it() -> None:
    statistics = Statistics()
    statistics.take(emitted({}, at=time.monotonic()))
    assert not statistics.refresh(lambda _: None, timeout_seconds=0.01)
    assert statistics.refresh(lambda _: statistics.take(emitted({}, at=time.monotonic())), timeout_seconds=1.0)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """A client of a mock cluster."""
    with mock_cluster(tmp_path) as play:
        options = ClientOptions(
            actor="a",
            lane="victim",
            bootstrap={node: str(address) for node, address in play.brokers.items()},
            transactional_id="id",
            request_ms=1_000,
            group="g",
        )
        opened = ADAPTERS["librdkafka"].open(options)
        yield opened
        opened.close()
        play.history_journal.close()


def test_what_librdkafka_does_not_take_is_refused_with_nothing_sent(client: Client) -> None:
    assert client.init().done
    results = [client.produce("t", 0, Value(txn=1, ordinal=0, size=1)), client.commit(), client.begin()]
    seen = [(result.outcome, result.tries) for result in results]
    assert seen == [(Outcome.REFUSED, 0), (Outcome.REFUSED, 0), (Outcome.DONE, 1)]
    assert client.begin().outcome is Outcome.REFUSED
    assert client.send_offsets("t", 0, 1).outcome is Outcome.REFUSED
    assert client.poll(1).outcome is Outcome.REFUSED


def test_a_client_of_absent_brokers_is_unsure_of_init_and_closes() -> None:
    options = ClientOptions(
        actor="a", lane="victim", bootstrap={1: "127.0.0.1:9"}, transactional_id="id", request_ms=300, group="g"
    )
    client = ADAPTERS["librdkafka"].open(options)
    assert client.init().outcome is Outcome.UNSURE
    assert client.subscribe(["t"]).outcome is Outcome.REFUSED
    assert client.close().done
    assert client.close().done
