"""What is ours on a cluster is removed, nothing else is, and what stays is told once."""

from harness.base.kafka_error import KafkaError
from harness.cluster.run_options import Permissions
from harness.kafka.belongings import Belongings
from harness.wire.requests.cluster.delete_topics import DeleteTopics
from harness.wire.requests.groups.delete_groups import DeleteGroups
from suites.selfcheck.fixtures.fake_kafka import APIS, FakeKafka


def one_coordinator(_key: str) -> int:
    """Of all groups."""
    return 2


def with_things(kafka: FakeKafka) -> Belongings:
    """Two topics and a group of ours, and others' beside them."""
    ours = Belongings(permissions=Permissions(prefix="fp-"))
    for name in (ours.new_topic("R", "P1"), ours.new_topic("R", "P2"), "theirs"):
        kafka.place(name, 1)
    kafka.groups |= {ours.new_group("R", "group"): 0, "their-group": 0}
    return ours


def test_names_begin_with_the_prefix_and_differ_from_run_to_run() -> None:
    first, second = (Belongings(permissions=Permissions(prefix="fp-")) for _ in range(2))
    assert first.new_topic("KIP890-X", "P1") == f"fp-{first.stamp}-kip890-x-p1"
    assert first.new_topic("KIP890-X", "P1") != second.new_topic("KIP890-X", "P1")


def test_ours_are_removed_and_theirs_stay() -> None:
    kafka = FakeKafka(coordinator_of=one_coordinator)
    ours = with_things(kafka)
    ours.remove_all(kafka.any_broker)
    assert (list(kafka.topics), list(kafka.groups), list(ours.left())) == (["theirs"], ["their-group"], [])
    assert [node for node, request in kafka.asked if isinstance(request, DeleteGroups)] == [2]


def test_what_is_not_ours_is_not_removed_though_it_is_named() -> None:
    kafka = FakeKafka(coordinator_of=one_coordinator)
    ours = with_things(kafka)
    ours.remove(kafka.any_broker, topics=["theirs"], groups=["their-group"])
    assert (len(kafka.topics), len(kafka.groups)) == (3, 2)
    assert kafka.requests(DeleteTopics) == kafka.requests(DeleteGroups) == []


def test_what_never_came_to_be_is_gone() -> None:
    kafka = FakeKafka(coordinator_of=one_coordinator)
    ours = Belongings()
    ours.new_topic("R", "P1")
    ours.new_group("R", "group")
    ours.remove_all(kafka.any_broker)
    assert list(ours.left()) == []


def test_what_is_still_there_is_tried_again_at_the_end() -> None:
    kafka = FakeKafka(coordinator_of=one_coordinator)
    ours = with_things(kafka)
    kafka.silent |= {1, 2, 3}
    ours.remove(kafka.any_broker, topics=tuple(ours.topics), groups=tuple(ours.groups))
    assert (len(ours.topics), len(ours.groups)) == (2, 1)
    kafka.silent.clear()
    kafka.groups[ours.groups[0]] = KafkaError.NON_EMPTY_GROUP
    ours.remove_all(kafka.any_broker)
    group = ours.groups[0]
    assert list(ours.left()) == [f"1 group could not be removed (NON_EMPTY_GROUP): {group}"]


def test_a_cluster_that_removes_nothing_is_told_about_with_some_names() -> None:
    kafka = FakeKafka(apis=[api for api in APIS if not api.startswith("Delete")], coordinator_of=one_coordinator)
    ours = with_things(kafka)
    for index in (3, 4):
        ours.new_topic("R", f"P{index}")
    ours.transactional_ids = 2
    ours.remove_all(kafka.any_broker)
    topics, groups, ids = ours.left()
    assert topics == f"4 topics could not be removed (DeleteTopics is not offered): {', '.join(ours.topics[:3])}, …"
    assert groups == f"1 group could not be removed (DeleteGroups is not offered): {ours.groups[0]}"
    assert ids.startswith(f"2 transactional ids that begin with fp-{ours.stamp}- stay until the cluster forgets them")


def test_what_was_written_to_given_topics_is_told_about() -> None:
    given = Belongings(permissions=Permissions(topics=("a", "b")), transactional_ids=1)
    assert list(given.left())[-1] == "what was written to a, b stays there"
