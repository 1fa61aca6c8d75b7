"""KAFKA-18137 as chaos found it (``suites/chaos/findings/late-load.md``); Byteman makes its two delays certain."""

from pathlib import Path

import pytest

from harness.base.kafka_error import KafkaError
from harness.base.wait import until
from harness.contract.byteman.rule_text import rule
from harness.lab.lab import Lab
from harness.lab.partition import Partition
from harness.lab.producer import Producer
from harness.wire.requests.transactions.describe_transactions import DescribeTransactions
from harness.wire.requests.transactions.init_producer_id import InitProducerId
from suites.selfcheck.fixtures.live_clients import breakable_lab

pytestmark = pytest.mark.live

COORDINATION = "kafka.coordinator.transaction"
LATE_LOAD = rule(
    "what loads the ids of a partition comes late to it",
    f"{COORDINATION}.TransactionStateManager#loadTransactions$1",
    "delay(5000)",
)
LATE_ELECTION = rule(
    "a broker leads the partition two seconds before it coordinates its ids",
    f"{COORDINATION}.TransactionCoordinator#onElection",
    "delay(2000)",
)


@pytest.mark.parametrize(("version", "keeps"), [("3.9.2", False), ("4.3.1", True)])
def test_an_overtaken_load_makes_the_next_election_forget_open_transactions(
    version: str, keeps: bool, tmp_path: Path
) -> None:
    with breakable_lab(version, tmp_path) as lab:
        txn = lab.producer()
        place = lab.moves.view.state_partition(txn.transactional_id)
        first, second, third = lab.moves.view.partition(*place)["replicas"]
        partition = lab.partition("P1", leader=third)
        txn.add(partition)
        txn.produce(partition)
        told = overtake_the_load(lab, txn, second)
        assert told == (KafkaError.NOT_COORDINATOR if keeps else KafkaError.TRANSACTIONAL_ID_NOT_FOUND)
        assert (producer_given_at_once(lab, txn, second, coordinator=first) == txn.producer_id) == keeps
        assert is_open(lab, partition) == (not keeps)


def overtake_the_load(lab: Lab, txn: Producer, node: int) -> int:
    """``node`` is elected, and another one in its place before it has loaded anything; what it tells of the id then."""
    request, recorder = DescribeTransactions(transactional_id=txn.transactional_id), lab.step_recorder("observer")
    told = list[int]()

    def over() -> bool:
        asked = recorder.asked(node, request, 0, as_="look", retry=())
        told.extend([] if asked.error in (None, KafkaError.COORDINATOR_LOAD_IN_PROGRESS) else [asked.error])
        return bool(told)

    with lab.broken(LATE_LOAD):
        with lab.moves.coordinator(txn, to=node, known=False):
            pass
        until(over, what="the load that was overtaken", timeout_seconds=20)
    return told[0]


def producer_given_at_once(lab: Lab, txn: Producer, node: int, *, coordinator: int) -> int:
    """The producer id that ``node`` gives to the id as soon as it can, when the coordinator is shut down."""
    request, recorder = InitProducerId(transactional_id=txn.transactional_id), lab.step_recorder("rival")
    given = list[int]()

    def ask() -> bool:
        if not given:
            asked = recorder.asked(node, request, 4, as_="init", retry=())
            given.extend([asked.answer_int("producer_id")] if asked.error == 0 else [])
        return bool(given)

    with lab.broken(LATE_ELECTION), lab.nodes.stopped(coordinator, meanwhile=ask):
        until(ask, what="a producer id", timeout_seconds=20)
    return given[0]


def is_open(lab: Lab, partition: Partition) -> bool:
    """Whether the partition's leader has a transaction open."""
    producers = lab.observer.producers(partition).fields["producers"]
    assert isinstance(producers, list)
    return any(isinstance(each, dict) and each["current_txn_start_offset"] != -1 for each in producers)
