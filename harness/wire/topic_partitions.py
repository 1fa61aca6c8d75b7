"""Partitions: a pair ``("t", 0)`` in requests, a name ``"t-0"`` in results."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias, TypeVar

TopicPartition: TypeAlias = tuple[str, int]
"""Topic and partition index."""

Item = TypeVar("Item")


def by_topic(items: Iterable[tuple[str, Item]]) -> Mapping[str, list[Item]]:
    """The items of each topic; topics and items in the order given.

    >>> by_topic([("a", 1), ("b", 0), ("a", 0)])
    {'a': [1, 0], 'b': [0]}
    """
    grouped: dict[str, list[Item]] = {}
    for topic, item in items:
        grouped.setdefault(topic, []).append(item)
    return grouped


def partition_name(topic: str, partition: int) -> str:
    """``t-0``, Kafka's own way to print a ``TopicPartition``."""
    return f"{topic}-{partition}"


def named_partition(name: str) -> TopicPartition:
    """Topic and index of a partition's name.

    >>> named_partition("eu-accounts-2")
    ('eu-accounts', 2)
    """
    topic, _, index = name.rpartition("-")
    return topic, int(index)
