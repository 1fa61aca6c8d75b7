"""Partitions and ids on clusters of every shape: indexes above 0, leaders as wanted, or told why not."""

from random import Random

import pytest

from harness.base.kafka_error import KafkaError
from harness.base.unprepared import OutOfReach, Unprepared
from harness.cluster.run_options import Permissions
from harness.kafka.belongings import Belongings
from harness.lab.partition import UNKNOWN, Partition
from harness.lab.placement import FREE, PLACED, Placement
from harness.wire.requests.cluster.create_topic import CreateTopic
from harness.wire.requests.transactions.init_producer_id import InitProducerId
from suites.selfcheck.fixtures.fake_kafka import APIS, FakeKafka

SEEDS = range(12)
REFUSED = KafkaError.INVALID_REPLICA_ASSIGNMENT


def placement(kafka: FakeKafka, seed: int = 1, *topics: str) -> Placement:
    """One requirement's."""
    belongings = Belongings(permissions=Permissions(topics=topics))
    return Placement(
        cluster=kafka.any_broker, belongings=belongings, requirement="R-1", draw=Random(seed), starts={}, foreign={}
    )


def partition(place: Placement, alias: str = "P1", *, leader: int | None = None, replicas: int = 1) -> Partition:
    """A partition without settings."""
    return place.partition(alias, leader=leader, replicas=replicas, configs=None)


def one_for_each(key: str) -> int:
    """Every broker coordinates."""
    return 1 + sum(key.encode()) % 3


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("refused", [0, REFUSED])
def test_a_partition_lies_above_index_0_of_a_topic_of_several_and_is_led_as_wanted(seed: int, refused: int) -> None:
    kafka = FakeKafka(refused=refused)
    place = placement(kafka, seed)
    for leader in (2, 3, 1, 2):
        made = partition(place, leader=leader, replicas=2)
        assert (made.index > 0, made.leader, made.start) == (True, leader, 0)
        assert kafka.topics[made.topic][made.index]["leader"] == leader
        assert len(kafka.topics[made.topic][made.index]["replicas"]) == 2
        assert len(kafka.topics[made.topic]) == (FREE if refused else PLACED)


def test_all_indexes_are_drawn() -> None:
    kafka = FakeKafka()
    assert {partition(placement(kafka, seed)).index for seed in SEEDS} == set(range(1, PLACED))


def test_a_refused_assignment_is_not_tried_for_every_topic() -> None:
    kafka = FakeKafka(refused=REFUSED)
    place = placement(kafka)
    for alias in ("P1", "P2", "P3"):
        partition(place, alias)
    assert [request.assignment is None for request in kafka.requests(CreateTopic)] == [False, True, True, True]


def test_where_assignments_are_taken_and_not_obeyed_another_topic_is_made() -> None:
    kafka = FakeKafka(obeys=False, free_leaders=(1, 1, 1, 1, 2))
    place = placement(kafka)
    assert partition(place, leader=2).leader == 2
    assert len(kafka.requests(CreateTopic)) == 2


def test_a_broker_that_leads_nothing_is_told_in_a_sentence() -> None:
    kafka = FakeKafka(refused=REFUSED, free_leaders=(1, 2))
    with pytest.raises(Unprepared, match="of 6 topics no partition is led by broker 3 with 1 replicas"):
        partition(placement(kafka), leader=3)


def test_thirty_brokers_lead_a_partition_each_without_assignment() -> None:
    brokers = tuple(range(100, 130))
    kafka = FakeKafka(brokers=brokers, controller=111, refused=REFUSED)
    place = placement(kafka)
    assert [partition(place, leader=leader).leader for leader in brokers] == list(brokers)
    assert min(made.index for made in place.partitions) > 0


def test_one_broker_leads_and_coordinates_everything() -> None:
    kafka = FakeKafka(brokers=(0,), controller=0, state_leaders=(0,) * 5)
    place = placement(kafka)
    made = partition(place, replicas=3)
    name, coordinator = place.transactional_id("victim", None)
    assert (made.leader, made.index > 0, coordinator, name.startswith("fencepost-")) == (0, True, 0, True)
    assert len(kafka.topics[made.topic][made.index]["replicas"]) == 1


def test_leader_and_coordinator_are_apart_where_they_can_be() -> None:
    for seed in SEEDS:
        place = placement(FakeKafka(state_leaders=(1, 2, 3)), seed)
        made = partition(place)
        _, coordinator = place.transactional_id("victim", None)
        assert coordinator != made.leader
        place.coordinators.add(coordinator)
        assert partition(place, "P2").leader not in (made.leader, coordinator)


def test_a_wish_for_a_coordinator_is_given_up_and_a_need_is_not() -> None:
    kafka = FakeKafka(coordinator_of=lambda _key: 1)
    place = placement(kafka)
    partition(place, leader=1)
    assert place.transactional_id("victim", None)[1] == 1
    assert place.belongings.coordinating_nothing == {2, 3}
    with pytest.raises(OutOfReach, match="no transactional id is coordinated by broker 2"):
        place.transactional_id("victim", 2)


def test_the_seed_decides_which_broker_coordinates_whatever_the_names() -> None:
    def drawn(seed: int) -> list[int]:
        place = placement(FakeKafka(coordinator_of=one_for_each), seed)
        return [place.transactional_id("victim", None)[1] for _ in range(6)]

    assert all(drawn(seed) == drawn(seed) for seed in SEEDS)
    assert len({tuple(drawn(seed)) for seed in SEEDS}) > 1


def test_given_topics_are_used_from_their_end_on_by_one_requirement_at_a_time() -> None:
    kafka = FakeKafka(ends={("theirs", 1): (40, 40), ("theirs", 2): (50, 50)})
    kafka.place("theirs", 1, 1, 1)
    place = placement(kafka, 1, "theirs")
    first, second, last = (partition(place, alias, leader=1) for alias in ("P1", "P2", "P3"))
    assert {(made.index, made.start) for made in (first, second)} == {(1, 40), (2, 50)}
    assert (last.index, last.start, place.starts["theirs-0"]) == (0, 0, 0)
    with pytest.raises(Unprepared, match="theirs: no partition is led by broker 1, free"):
        partition(place, "P4", leader=1)
    place.end()
    assert partition(place, "P5", leader=1).index > 0
    assert (kafka.requests(CreateTopic), list(kafka.topics)) == ([], ["theirs"])


def test_producers_that_wrote_to_a_given_partition_before_are_known() -> None:
    kafka = FakeKafka(apis=(*APIS, "DescribeProducers"), ends={("theirs", 1): (40, 40)})
    kafka.place("theirs", 2, 1)
    place = placement(kafka, 1, "theirs")
    partition(place, leader=1)
    assert place.foreign == {"theirs-1": frozenset({1000, 1010})}


def test_a_given_partition_with_an_open_transaction_is_left_alone() -> None:
    kafka = FakeKafka(ends={("theirs", 1): (40, 31), ("theirs", 2): (50, 50)})
    kafka.place("theirs", 2, 1, 1)
    for seed in SEEDS:
        assert partition(placement(kafka, seed, "theirs"), leader=1).index == 2


def test_no_transaction_of_ours_stays_open_on_a_given_partition() -> None:
    kafka = FakeKafka(coordinator_of=one_for_each, ends={("theirs", 1): (40, 40)})
    kafka.place("theirs", 1, 1)
    place = placement(kafka, 1, "theirs")
    partition(place)
    name, coordinator = place.transactional_id("victim", None)
    kafka.ends["theirs", 1] = (42, 41)
    place.end()
    assert [node for node, request in kafka.asked if request == InitProducerId(transactional_id=name)] == [coordinator]
    assert partition(place, "P2", leader=1).start == 42


def test_a_given_partition_on_which_a_transaction_never_ends_is_told_and_not_waited_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("harness.lab.placement.CLEAN_SECONDS", 0.05)
    monkeypatch.setattr("harness.kafka.belongings.ENDING_SECONDS", 0.05)
    kafka = FakeKafka(ends={("theirs", 1): (40, 40)})
    kafka.place("theirs", 2, 1)
    place = placement(kafka, 1, "theirs")
    partition(place, leader=1)
    kafka.ends["theirs", 1] = (42, 41)
    place.end()
    with pytest.raises(Unprepared, match="no partition is led by broker 1, free, and without an open transaction"):
        partition(place, "P2", leader=1)
    place.belongings.remove_all(kafka.any_broker)
    assert list(place.belongings.left()) == [
        "a transaction is still open on theirs-1: consumers with read_committed stop before it"
    ]


def test_given_topics_are_looked_for_and_cannot_have_settings() -> None:
    kafka = FakeKafka()
    with pytest.raises(Unprepared, match="topic nowhere is not there"):
        partition(placement(kafka, 1, "nowhere"))
    kafka.place("theirs", 1, 1)
    with pytest.raises(OutOfReach, match="needs settings of its topic, and only theirs may be written to"):
        placement(kafka, 1, "theirs").partition("P1", leader=None, replicas=1, configs={"a": "b"})


def test_where_topics_come_by_asking_settings_are_out_of_reach() -> None:
    kafka = FakeKafka(apis=[api for api in APIS if api != "CreateTopics"], creates_by_asking=4)
    assert partition(placement(kafka)).index > 0
    with pytest.raises(OutOfReach, match="CreateTopics is not offered"):
        placement(kafka).partition("P1", leader=None, replicas=1, configs={"a": "b"})


def test_the_partition_of_a_groups_offsets_is_read_from_its_end_or_not_at_all() -> None:
    kafka = FakeKafka(coordinator_of=one_for_each)
    unknown = placement(kafka).group("offsets").offsets
    assert (unknown.index, unknown.known) == (UNKNOWN, False)
    kafka.place("__consumer_offsets", 1)
    kafka.ends["__consumer_offsets", 0] = (700, 690)
    place = placement(kafka)
    known = place.group("offsets").offsets
    assert (known.index, known.start, known.known) == (0, 700, True)
    assert place.starts == {"__consumer_offsets-0": 700}


def test_the_state_of_ids_is_read_from_where_it_ended_before_the_first_of_them() -> None:
    kafka = FakeKafka(state_leaders=(1,), ends={("__transaction_state", 0): (90, 90)})
    place = placement(kafka)
    place.transactional_id("victim", None)
    kafka.ends["__transaction_state", 0] = (95, 95)
    place.transactional_id("rival", None)
    assert place.starts == {"__transaction_state-0": 90}


def test_at_the_end_a_requirement_removes_what_it_made_alone() -> None:
    kafka = FakeKafka(coordinator_of=one_for_each)
    kafka.place("theirs", 1)
    mine, other = placement(kafka), placement(kafka, 2)
    other.belongings = mine.belongings
    kept = partition(other)
    partition(mine)
    kafka.groups[mine.group("offsets").name] = 0
    mine.end()
    assert (set(kafka.topics), kafka.groups) == ({"theirs", kept.topic}, {})
    assert mine.belongings.topics == [kept.topic]
