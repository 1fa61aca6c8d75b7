"""Ids for a wanted coordinator: worked out where the internal topic is shown, asked for in batches or one by one."""

from collections.abc import Callable
from itertools import count

import pytest

from harness.kafka import coordinators
from harness.kafka.coordinators import Coordinators, transactional_id_for
from harness.wire.records.transaction_state import state_partition
from harness.wire.requests.groups.find_coordinator import FindCoordinator, FindCoordinators
from suites.selfcheck.fixtures.fake_kafka import FakeKafka

LEADERS = (1, 1, 1, 1, 1, 1, 1, 2, 1, 1)
"""Of the partitions that keep ids: one in ten is led by broker 2, none by 3."""


def names() -> Callable[[], str]:
    """Fresh ids, always the same."""
    numbers = count()
    return lambda: f"id-{next(numbers)}"


def last_digit(key: str) -> int:
    """A rule of its own by which a server coordinates."""
    return 2 if key.endswith("7") else 1


def test_an_id_is_worked_out_and_confirmed_once() -> None:
    kafka = FakeKafka(state_leaders=LEADERS)
    found = transactional_id_for((2,), names(), kafka.any_broker)
    assert found is not None
    assert (state_partition(found[0], len(LEADERS)), found[1]) == (7, 2)
    assert [request.key for request in kafka.requests(FindCoordinator)] == ["id-0", found[0]]
    assert kafka.requests(FindCoordinators) == []


def test_a_broker_that_leads_no_partition_of_ids_is_not_looked_for() -> None:
    kafka = FakeKafka(state_leaders=LEADERS)
    assert transactional_id_for((3,), names(), kafka.any_broker) is None
    assert len(kafka.requests(FindCoordinator)) == 1


def test_the_first_id_will_do() -> None:
    kafka = FakeKafka(state_leaders=LEADERS)
    assert transactional_id_for((1, 2, 3), names(), kafka.any_broker) == ("id-0", 1)


@pytest.mark.parametrize("batches", [True, False])
def test_where_no_topic_is_shown_many_ids_are_asked_for(batches: bool) -> None:
    kafka = FakeKafka(coordinator_of=last_digit, batches=batches)
    assert transactional_id_for((2,), names(), kafka.any_broker) == ("id-7", 2)
    assert len(kafka.requests(FindCoordinators)) == batches
    assert len(kafka.requests(FindCoordinator)) == (1 if batches else 1 + coordinators.AT_ONCE)


def test_a_shown_topic_by_which_nobody_goes_is_not_believed() -> None:
    kafka = FakeKafka(state_leaders=LEADERS, coordinator_of=last_digit)
    found = transactional_id_for((2,), names(), kafka.any_broker)
    assert found is not None
    assert (found[0][-1], found[1]) == ("7", 2)


@pytest.mark.parametrize("batches", [True, False])
def test_where_one_broker_coordinates_everything_asking_ends(batches: bool) -> None:
    kafka = FakeKafka(coordinator_of=lambda _key: 1, batches=batches)
    assert transactional_id_for((2,), names(), kafka.any_broker) is None
    asked = sum(len(request.keys) for request in kafka.requests(FindCoordinators))
    assert asked == (coordinators.ASKED if batches else 0)


def test_broker_0_is_a_coordinator_as_any_other() -> None:
    kafka = FakeKafka(brokers=(0, 1), controller=0, coordinator_of=lambda _key: 0)
    assert Coordinators(kafka.any_broker).of("who") == 0
    assert transactional_id_for((0,), names(), kafka.any_broker) == ("id-0", 0)


def test_the_partition_of_a_key_is_unknown_where_the_topic_is_not_shown() -> None:
    shown, hidden = FakeKafka(state_leaders=LEADERS), FakeKafka(coordinator_of=last_digit)
    place = ("__transaction_state", state_partition("who", len(LEADERS)))
    assert Coordinators(shown.any_broker).key_partition("__transaction_state", "who") == (place, 0)
    assert Coordinators(hidden.any_broker).key_partition("__transaction_state", "who") is None
