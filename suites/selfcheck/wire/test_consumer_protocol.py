"""What members of a group tell one another: encodings that every client reads, and ranges as Kafka cuts them."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.wire.records.consumer_protocol import (
    assign_ranges,
    assigned_partitions,
    assignment,
    subscribed_topics,
    subscription,
)
from harness.wire.wire_errors import UnreadableAnswer

TOPICS = st.lists(st.text(min_size=1, max_size=9), unique=True, max_size=4)


@given(TOPICS)
def test_a_subscription_reads_back(topics: list[str]) -> None:
    assert subscribed_topics(subscription(topics)) == tuple(topics)


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 9)), unique=True))
def test_an_assignment_reads_back_topic_by_topic(partitions: list[tuple[str, int]]) -> None:
    assert sorted(assigned_partitions(assignment(partitions))) == sorted(partitions)


def test_bytes_are_as_kafka_writes_them() -> None:
    assert subscription(["t"]) == struct.pack(">hih1si", 0, 1, 1, b"t", -1)
    assert assignment([("t", 2)]) == struct.pack(">hih1siii", 0, 1, 1, b"t", 1, 2, -1)


def test_a_later_version_is_read_as_far_as_we_know_it() -> None:
    later = struct.pack(">hih1si", 3, 1, 1, b"t", -1) + b"owned partitions, generation, rack"
    assert subscribed_topics(later) == ("t",)


def test_a_member_without_partitions_is_sent_no_bytes_by_some_leaders() -> None:
    assert assigned_partitions(b"") == ()


def test_bytes_that_end_too_early_are_unreadable() -> None:
    with pytest.raises(UnreadableAnswer):
        assigned_partitions(assignment([("t", 0)])[:7])


@pytest.mark.parametrize(
    ("members", "partitions", "sizes"), [(3, 3, [1, 1, 1]), (3, 7, [3, 2, 2]), (3, 2, [1, 1, 0]), (1, 4, [4])]
)
def test_ranges_are_stretches_the_first_ones_longer_by_one(members: int, partitions: int, sizes: list[int]) -> None:
    given_out = assign_ranges({f"m{number}": ["t"] for number in range(members)}, {"t": partitions})
    assert [len(own) for _, own in sorted(given_out.items())] == sizes
    assert sorted(place for own in given_out.values() for place in own) == [("t", i) for i in range(partitions)]


def test_a_topic_is_assigned_only_to_members_that_subscribed_to_it() -> None:
    given_out = assign_ranges({"m": ["a"], "n": ["a", "b"]}, {"a": 2, "b": 2, "c": 1})
    assert given_out == {"m": [("a", 0)], "n": [("a", 1), ("b", 0), ("b", 1)]}
